// Runs one target in a process of its own, whose heap is capped; `run.mjs` builds and starts it.
import { Worker } from 'node:worker_threads';
import { fuzz } from './fuzz.ts';
import { targets } from './targets/index.ts';

const { name, seed, inputs, hangFile, hangMs } = JSON.parse(process.argv[2] ?? '{}') as Order;

interface Order {
  readonly name: string;
  readonly seed: number;
  readonly inputs: number;
  /** The input that is being read is written there when it takes longer than `hangMs`. */
  readonly hangFile: string;
  readonly hangMs: number;
}

/** Number of the input that is read, its length, and its bytes, seen by the watch while this thread does not end. */
const shared = new SharedArrayBuffer(8 + 1024 * 1024);
const head = new Int32Array(shared, 0, 2);
const bytes = new Uint8Array(shared, 8);

const watch = new Worker(
  `const { workerData: { shared, hangFile, hangMs } } = require('node:worker_threads');
  const head = new Int32Array(shared, 0, 2);
  let [last, since] = [-1, Date.now()];
  setInterval(() => {
    if (head[0] !== last) [last, since] = [head[0], Date.now()];
    // What a target reads from is made before the first of its inputs.
    else if (Date.now() - since > (head[0] === 0 ? 10 : 1) * hangMs) {
      require('node:fs').writeFileSync(hangFile, Buffer.from(new Uint8Array(shared, 8, head[1])));
      process.kill(process.pid, 'SIGKILL');
    }
  }, 500);`,
  { eval: true, workerData: { shared, hangFile, hangMs } },
);
watch.unref();

// Listeners of the source keep no process alive.
setInterval(() => undefined, 60_000);
let played = 0;
const load = targets[name];
if (load === undefined) throw new Error(`There is no target ${name}`);
let stray: Error | undefined;

// Not awaited at the top level: a target may share a chunk with this module, which would wait for it for ever.
void (async () => {
  const target = await load();
  for (const event of ['unhandledRejection', 'uncaughtException'] as const)
    process.on(event, (error: unknown) => (stray = error instanceof Error ? error : new Error(String(error))));
  const report = await fuzz(
    {
      ...target,
      close: async () => target.close?.(),
      run: async (input, random) => {
        await target.run(input, random);
        if (stray === undefined) return;
        const escaped = stray;
        stray = undefined;
        throw escaped;
      },
    },
    {
      ...{ seed, inputs },
      words: [...new Set((globalThis as unknown as { fuzzWords: string[] }).fuzzWords)],
      began: (input) => {
        bytes.set(input.subarray(0, bytes.length));
        head[1] = Math.min(input.length, bytes.length);
        Atomics.store(head, 0, ++played);
      },
    },
  );
  process.stdout.write(
    `${JSON.stringify({ ...report, heapMb: Math.round(process.memoryUsage().heapUsed / 1e6) })}\n`,
    () => process.exit(report.findings.length > 0 ? 1 : 0),
  );
})();
