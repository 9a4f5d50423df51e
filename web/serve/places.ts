import type { Clock, IntegrationPolicy, PolicyInput } from '../../src/policy/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { ApiError } from './apiError.ts';

/** A policy whose calls wait for a place where nothing else is said: they are no more than there are sessions, each of which makes one at a time. */
export function waitingForPlaces(policy: PolicyInput | undefined): PolicyInput {
  // A value that is no policy is left to its check.
  if (policy !== undefined && (typeof policy !== 'object' || policy === null)) return policy;
  return { queueLength: Number.MAX_SAFE_INTEGER, ...policy };
}

/** Longest time that a client that is refused is to stay away, in s. */
const longestStay = 3600;
/** A mean is of about so many ends. */
const samples = 16;

/** Room of a server or an agent. */
export interface Room extends Pick<IntegrationPolicy, 'maxInFlight' | 'queueLength'> {
  /** Time that a call may take, its wait for a place included, in ms. */
  readonly limitMs: number;
}

/** Place that a message was given, which may wait. Either of the two is to be called, once. */
export interface Place {
  /** It has ended. */
  leave(): void;
  /** It was not accepted. */
  giveBack(): void;
}

interface Line {
  /** Messages without an end, by session: each session has one call at a time. */
  readonly sessions: Map<string, number>;
  /** In monotonic ms; undefined while there is room. */
  lastEnd: number | undefined;
  /** Between two ends, while others wait, in ms; undefined until that was seen. */
  betweenMs: number | undefined;
}

/**
 * Sessions that want the same server or agent. Those that find no place wait for one within the limit of their call; a message whose call would not get
 * one in time is refused before it is accepted.
 */
export class Places {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #roomOf: (name: string) => Room;
  readonly #lines = new Map<string, Line>();

  constructor(clock: Pick<Clock, 'now'>, roomOf: (name: string) => Room) {
    this.#clock = clock;
    this.#roomOf = roomOf;
  }

  /** Takes a message in. @throws ApiError when it cannot wait. */
  enter(name: string, session: string): Place {
    const line = this.#lines.get(name) ?? {
      sessions: new Map<string, number>(),
      lastEnd: undefined,
      betweenMs: undefined,
    };
    const messages = line.sessions.get(session);
    if (messages === undefined) this.#refuse(name, line);
    this.#lines.set(name, line);
    line.sessions.set(session, (messages ?? 0) + 1);
    const giveBack = (): void => takeOut(line, session);
    return {
      giveBack,
      leave: () => {
        this.#ended(name, line);
        giveBack();
      },
    };
  }

  #refuse(name: string, { sessions, betweenMs = 0 }: Line): void {
    const { maxInFlight, queueLength, limitMs } = this.#roomOf(name);
    const ahead = sessions.size + 1 - maxInFlight;
    if (ahead > queueLength)
      throw new ApiError(429, `${name} is busy, and as many sessions wait for it as may.`, stayOf(betweenMs));
    const waitMs = ahead * betweenMs;
    // The first in line always waits: by it a pace is found out anew.
    if (waitMs <= limitMs || ahead <= 1) return;
    const text = `${name} is busy: ${ahead - 1} sessions wait for it already, and a call may take ${formatDuration(limitMs)}.`;
    throw new ApiError(429, text, stayOf(waitMs - limitMs));
  }

  /** The pace is that of ends while others wait, and is forgotten once none does. A gap may be idle time: beyond the limit it says no more than that. */
  #ended(name: string, line: Line): void {
    const now = this.#clock.now();
    const { maxInFlight, limitMs } = this.#roomOf(name);
    const isCrowded = line.sessions.size > maxInFlight;
    if (isCrowded && line.lastEnd !== undefined) {
      const gapMs = Math.min(now - line.lastEnd, limitMs);
      const mean = line.betweenMs ?? gapMs;
      line.betweenMs = mean + (gapMs - mean) / samples;
    }
    line.lastEnd = isCrowded ? now : undefined;
    if (!isCrowded) line.betweenMs = undefined;
  }
}

function takeOut({ sessions }: Line, session: string): void {
  const messages = sessions.get(session) ?? 1;
  if (messages > 1) sessions.set(session, messages - 1);
  else sessions.delete(session);
}

const stayOf = (ms: number): number => Math.min(longestStay, Math.max(1, Math.ceil(ms / 1000)));
