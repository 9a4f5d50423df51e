import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';

// The thread that asks: told how long, it asks siblings chosen by chance, one at a time, with pauses of 0.2 to 1.2 ms.
const port = parentPort;
if (port === null) throw new Error('Expected to be a worker thread');
const nap = new Int32Array(new SharedArrayBuffer(4));

port.on('message', (order: { readonly siblings: number; readonly forMs: number } | 'answer') => {
  if (order !== 'answer') void askFor(order.siblings, order.forMs);
});

async function askFor(siblings: number, forMs: number): Promise<void> {
  const roundTripsUs: number[] = [];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    // Blocks this thread only; a timer would be rounded to whole milliseconds.
    Atomics.wait(nap, 0, 0, 0.2 + Math.random());
    const start = performance.now();
    const answered = once(port as NonNullable<typeof port>, 'message');
    port?.postMessage({ ask: Math.floor(Math.random() * siblings) });
    await answered;
    roundTripsUs.push((performance.now() - start) * 1000);
  }
  port?.postMessage({ roundTripsUs });
}
