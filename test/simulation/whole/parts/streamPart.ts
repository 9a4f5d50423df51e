import type { Integration } from '../../../../src/calls/integration.ts';
import type { Host } from '../host.ts';
import type { Part, PartMaker } from '../part.ts';
import { wordOfOutcome } from '../asked.ts';
import type { WholeWorld } from '../wholeWorld.ts';

const overallMs = 120_000;
/** Chunks of each stream. */
const length = 5;

/** Streams of chunks whose source stalls, breaks and never ends, and whose reader is slow, leaves, or never reads. */
class StreamPart implements Part {
  readonly steps = [[6, () => this.ask()]] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  #integration: Integration<string, AsyncIterable<string>> | undefined;
  #last = 0;
  #lastWord = '';
  /** Sources that were opened and not let go of. */
  #sources = 0;

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  declare({ gateway }: Host): void {
    const limits = { idleMs: 10_000, attemptMs: 60_000, overallMs };
    const policy = { limits, breaker: { maxOpenMs: 60_000 }, maxInFlight: 10 };
    this.#integration = gateway.integration('stream', { policy }, (token: string, { signal }) =>
      this.#source(token, signal),
    );
  }

  ask(): void {
    const { open, asked, judge, chance, calm } = this.#world;
    const integration = this.#integration;
    if (open === undefined || integration === undefined) return;
    const token = `stream-${++this.#last}`;
    const ended = asked.begin(token, overallMs);
    const stream = integration.stream(token);
    const reader = calm ? 'well' : chance.pick(['well', 'well', 'slow', 'leaves', 'never', 'cancels']);
    const got: string[] = [];
    if (reader !== 'never') void this.#read(stream.chunks, reader, got).catch(() => undefined);
    if (reader === 'cancels') this.#world.clock.setTimeout(() => stream.cancel(), chance.span(1, 20_000));
    void stream.outcome.then((outcome) => {
      if (!open.isAlive) return;
      this.#lastWord = wordOfOutcome(outcome);
      ended(this.#lastWord);
      const isInOrder = got.every((chunk, index) => chunk === `${token}.${index}`);
      judge.expect(isInOrder, 'R-13', () => `${token} gives ${got.join(' ')}`);
      const isWhole = !outcome.ok || got.length === length || reader === 'leaves';
      judge.expect(isWhole, 'R-13', () => `${token} ended well with ${got.length} of ${length} chunks`);
    });
  }

  killed(): void {
    this.#sources = 0;
  }

  checkQuiet(): void {
    const { judge } = this.#world;
    judge.expect(this.#lastWord === 'ok', 'Q-2', () => `the last stream ended ${this.#lastWord}`);
    judge.expect(this.#sources === 0, 'I-3', () => `${this.#sources} sources of streams are never let go of`);
  }

  async #read(chunks: AsyncIterable<string>, reader: string, got: string[]): Promise<void> {
    const { chance } = this.#world;
    for await (const chunk of chunks) {
      got.push(chunk);
      if (reader === 'leaves' && chance.happens(0.5)) break;
      if (reader === 'slow') await this.#wait(chance.span(1, 30_000));
    }
  }

  #source(token: string, signal: AbortSignal): AsyncIterable<string> {
    const { calm, chance } = this.#world;
    const fault = (probability: number): boolean => !this.#world.calm && chance.happens(probability);
    if (fault(0.1)) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const breaksAt = calm || chance.happens(0.7) ? -1 : chance.integer(0, length);
    const how = chance.pick(['throws', 'hangs', 'hangs for ever']);
    const { host } = this.#world;
    let next = 0;
    // A gateway that was killed a moment ago opens nothing any more.
    let isOpen = host?.isAlive === true;
    if (isOpen) this.#sources++;
    const close = (): void => {
      if (isOpen && host?.isAlive === true) this.#sources--;
      isOpen = false;
    };
    const untilAborted = (): Promise<never> =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          if (fault(0.2)) await this.#wait(chance.span(1, 30_000));
          if (next === breaksAt && how === 'hangs') await untilAborted().finally(close);
          if (next === breaksAt && how === 'hangs for ever') {
            signal.addEventListener('abort', close, { once: true });
            await new Promise(() => undefined);
          }
          if (next === breaksAt) close();
          if (next === breaksAt) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
          if (next < length) return { done: false, value: `${token}.${next++}` };
          close();
          return { done: true, value: undefined };
        },
        return: async () => {
          close();
          return { done: true, value: undefined };
        },
      }),
    };
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.clock.setTimeout(resolve, ms));
  }
}

export const streamMaker: PartMaker = { make: (world) => new StreamPart(world) };
