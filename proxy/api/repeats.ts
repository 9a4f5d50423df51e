import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import type { Clock } from '../../src/policy/face.ts';
import { clients } from './clients.ts';

/** Failures in the middle of an answer, in a row. */
interface Broken {
  readonly count: number;
  readonly at: number;
}

/** A request that comes so soon after such a failure is held back, in ms. */
const soonMs = 2000;
const firstDelayMs = 500;
const longestDelayMs = 8000;
/** A failure is forgotten after this, in ms. */
const forgottenMs = 60_000;
/** Most that are remembered; the oldest go first. */
const most = 1000;

/**
 * Holds back requests that follow a broken answer at once. Clients go on from half an answer without a pause, and give up after three: an
 * upstream that flaps for a second would end their run.
 */
export class Repeats {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #broken = new Map<string, Broken>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Returns the time that a request waits before it is sent, in ms. */
  delayOf(keys: readonly string[]): number {
    if (this.#broken.size === 0) return 0;
    const now = this.#clock.now();
    const delays = keys.map((key) => {
      const broken = this.#broken.get(key);
      return broken === undefined || now - broken.at > soonMs ? 0 : delayAfter(broken.count) - (now - broken.at);
    });
    return Math.max(0, ...delays);
  }

  /** An answer broke after some of it had been passed. */
  broke(keys: readonly string[]): void {
    const now = this.#clock.now();
    for (const key of keys) {
      const before = this.#broken.get(key);
      const isInARow = before !== undefined && now - before.at <= forgottenMs;
      this.#broken.delete(key);
      this.#broken.set(key, { count: isInARow ? before.count + 1 : 1, at: now });
    }
    for (const key of this.#broken.keys()) {
      if (this.#broken.size <= most) break;
      this.#broken.delete(key);
    }
  }

  /** An answer came whole. */
  ended(keys: readonly string[]): void {
    if (this.#broken.size > 0) for (const key of keys) this.#broken.delete(key);
  }
}

function delayAfter(count: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (count - 1));
}

/** By which headers the requests of one conversation know each other. */
const conversations: readonly string[] = Object.values(clients).flatMap((client) => client.conversations);

/** Returns the ids of the conversations that a request is part of. */
export function conversationsOf(headers: IncomingHttpHeaders): string[] {
  return conversations.flatMap((name) => headers[name] ?? []);
}

/**
 * Returns the keys that a request shares with the next try of it: its body, or its conversation, as one that goes on from half an answer has another body.
 * They are checksums: what shares one by chance is held back for seconds.
 */
export function repeatKeys(
  url: string,
  headers: IncomingHttpHeaders,
  credential: string,
  body: Buffer | undefined,
): string[] {
  const ids = conversationsOf(headers);
  const of = (what: string | Buffer): string => `${what.length} ${crc32(what, crc32(`${url}\0${credential}`))}`;
  return [...(body === undefined ? [] : [of(body)]), ...(ids.length === 0 ? [] : [of(ids.join('\0'))])];
}
