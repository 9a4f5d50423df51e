import { createParser } from 'eventsource-parser';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Probe } from '../harness/probe.ts';
import type { Case } from '../harness/suite.ts';

const eventsOfChunk = 10;
const chunks = 20_000;

/** Events as models send them, some 140 bytes each. */
const chunk = new TextEncoder().encode(
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words more"}}\n\n`.repeat(
    eventsOfChunk,
  ),
);

/** An answer that is there at once, so that what is measured is what stands between its bytes and its reader. */
function answer(): Response {
  let left = chunks;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (left-- > 0) controller.enqueue(chunk);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The parser alone, in a loop over the chunks of the body. */
export function parsedEvents(): Case {
  return {
    measure: (probe) =>
      record(probe, async () => {
        let seen = 0;
        const parser = createParser({ onEvent: () => void seen++ });
        const decoder = new TextDecoder();
        const body = answer().body as ReadableStream<Uint8Array>;
        for await (const each of body) parser.feed(decoder.decode(each, { stream: true }));
        return seen;
      }),
  };
}

/** `gateway.http().stream()`, over a `fetch` that answers at once. */
export function supervisedEvents(): Case {
  return {
    async measure(probe) {
      const gateway = createGateway();
      const llm = gateway.http('llm', { baseUrl: 'http://127.0.0.1', fetch: () => Promise.resolve(answer()) });
      await gateway.start();
      await record(probe, async () => {
        let seen = 0;
        for await (const _ of llm.stream({ path: '' }).chunks) seen++;
        return seen;
      });
      await gateway.stop();
    },
  };
}

async function record(probe: Probe, read: () => Promise<number>): Promise<void> {
  const before = process.cpuUsage();
  const seen = await read();
  const { user, system } = process.cpuUsage(before);
  if (seen !== chunks * eventsOfChunk) throw new Error(`${seen} of ${chunks * eventsOfChunk} events came`);
  probe.record('event cpu', (user + system) / seen, 'µs');
}
