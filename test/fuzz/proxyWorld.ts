import { PassThrough } from 'node:stream';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { Registry } from '../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { answerKey, keyOf, messagesIn, requestKey } from './peer.ts';
import { must, mustBePlain } from './target.ts';

/** Inputs that one proxy reads one after the other: what it keeps of them shows in the heap. */
const inputsEach = 200;

/** What a proxy of a client needs of its surroundings. */
export interface Around {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly errors: (chunk: Uint8Array | string) => void;
  readonly say: (line: string) => void;
  readonly hide: (text: string) => string;
}

/** A proxy on simulated time, and its client. */
export class ProxyWorld {
  readonly clock = new SimulatedClock();
  /** All that the client has read since it was last taken. */
  #read = '';
  #said: string[] = [];
  readonly #registry: Registry;
  readonly #input = new PassThrough();

  constructor(start: (runtime: Runtime, around: Around) => void) {
    this.#registry = new Registry(checkGatewayOptions({ clock: this.clock, random: () => 0.5 }));
    const output = new PassThrough();
    output.on('data', (chunk: Buffer) => (this.#read += chunk.toString()));
    this.#start = async () => {
      await this.#registry.start();
      start(this.#registry.runtime, {
        input: this.#input,
        output,
        errors: () => undefined,
        say: (line) => this.#said.push(line),
        hide: (text) => text,
      });
      await this.settle();
    };
  }

  readonly #start: () => Promise<void>;

  start(): Promise<void> {
    return this.#start();
  }

  write(text: Uint8Array | string): void {
    this.#input.write(text);
  }

  /** Resolves when nothing goes on without time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await this.clock.advance(1);
  }

  /** What the client has read since then: lines, each JSON. */
  take(): string {
    const text = this.#read;
    this.#read = '';
    for (const line of this.#said.splice(0)) mustBePlain(line, 'what is said');
    must(text === '' || text.endsWith('\n'), 'a line is not whole');
    for (const line of text.split('\n').slice(0, -1)) {
      must(isJson(line), `a line is no JSON: ${line.slice(0, 200)}`);
    }
    return text;
  }

  async stop(): Promise<void> {
    const stopped = this.#registry.stop();
    await this.clock.advance(60_000);
    await stopped;
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Keeps one world for some inputs, and then makes the next. */
export function worlds<W extends { stop(): Promise<void> }>(open: () => Promise<W>, each = inputsEach) {
  let world: W | undefined;
  let count = 0;
  return {
    async get(): Promise<W> {
      if (world === undefined || count++ >= each) {
        await world?.stop();
        world = await open();
        count = 0;
      }
      return world;
    },
    /** The next input gets another one. */
    async drop(): Promise<void> {
      const old = world;
      world = undefined;
      await old?.stop();
    },
  };
}

/** By id: how often it was asked, or answered. */
export function counted(text: string, kind: 'requests' | 'answers' | 'ids'): Map<string, number> {
  const counts = new Map<string, number>();
  for (const message of messagesIn(text)) {
    const key = kind === 'ids' ? keyOf(message.id) : kind === 'requests' ? requestKey(message) : answerKey(message);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
