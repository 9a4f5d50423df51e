import { createGateway } from '../../src/gateway/gateway.ts';
import type { Case } from '../harness/suite.ts';

const chunks = 200_000;
const streams = 10_000;

/** A source that answers at once, so that what is measured is what stands between it and its reader. */
class Counting implements AsyncIterable<number> {
  #left: number;

  constructor(left: number) {
    this.#left = left;
  }

  [Symbol.asyncIterator](): AsyncIterator<number, undefined> {
    return {
      next: () => {
        if (this.#left === 0) return Promise.resolve({ done: true, value: undefined });
        return Promise.resolve({ done: false, value: this.#left-- });
      },
    };
  }
}

/** Gives the chunks of a source that has so many; all that is open is read beside one another. */
export interface Reader {
  open(count: number): AsyncIterable<number>;
  stop(): void | Promise<void>;
}

export const bare = (): Reader => ({ open: (count) => new Counting(count), stop: () => undefined });

export async function supervised(): Promise<Reader> {
  const gateway = createGateway();
  const policy = { maxInFlight: 2 * streams };
  const source = gateway.integration('source', { policy }, (count: number) => new Counting(count));
  await gateway.start();
  return { open: (count) => source.stream(count).chunks, stop: () => gateway.stop() };
}

/** What a chunk of a long stream costs. */
export function longStream(start: () => Reader | Promise<Reader>): Case {
  return {
    async measure(probe) {
      const reader = await start();
      probe.record('chunk cpu', (await cpuOfReading(reader, chunks)) / chunks, 'µs');
      await reader.stop();
    },
  };
}

/** What we add to a chunk, the bare source measured beside it. */
export function addedByChunk(): Case {
  return {
    async measure(probe) {
      const reader = await supervised();
      const ours = await cpuOfReading(reader, chunks);
      const without = await cpuOfReading(bare(), chunks);
      probe.record('added cpu', Math.max(0, ours - without) / chunks, 'µs');
      await reader.stop();
    },
  };
}

/** Many streams at once, each with one chunk taken while all are open. */
export function manyStreams(start: () => Reader | Promise<Reader>): Case {
  return {
    async measure(probe) {
      const reader = await start();
      const before = process.cpuUsage();
      const open = Array.from({ length: streams }, () => reader.open(1)[Symbol.asyncIterator]());
      for (let round = 0; round < 2; round++) await Promise.all(open.map((each) => each.next()));
      const { user, system } = process.cpuUsage(before);
      probe.record('stream cpu', (user + system) / streams, 'µs');
      await reader.stop();
    },
  };
}

async function cpuOfReading(reader: Reader, count: number): Promise<number> {
  const before = process.cpuUsage();
  let seen = 0;
  for await (const _ of reader.open(count)) seen++;
  const { user, system } = process.cpuUsage(before);
  if (seen !== count) throw new Error(`${seen} of ${count} chunks came`);
  return user + system;
}
