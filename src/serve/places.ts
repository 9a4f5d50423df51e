import type { Clock } from '../policy/clock.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { formatDuration } from '../policy/duration.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import { ApiError } from './apiError.ts';

/** A policy whose calls wait for a place where nothing else is said: they are no more than there are sessions, each of which makes one at a time. */
export function waitingForPlaces(policy: PolicyInput | undefined): PolicyInput {
  // What is no policy is for its check.
  if (policy !== undefined && (typeof policy !== 'object' || policy === null)) return policy;
  return { queueLength: Number.MAX_SAFE_INTEGER, ...policy };
}

/** How long a client that is refused is to stay away, in s. */
const longestStay = 3600;
/** A mean is of about so many ends. */
const samples = 16;

/** What a server or an agent has room for. */
export interface Room extends Pick<IntegrationPolicy, 'maxInFlight' | 'queueLength'> {
  /** How long a call may take, its wait for a place included, in ms. */
  readonly limitMs: number;
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

  /** Takes a message in. @returns what is to be called once when it has ended, or is not accepted. @throws ApiError when it cannot wait. */
  enter(name: string, session: string): () => void {
    const line = this.#lines.get(name) ?? {
      sessions: new Map<string, number>(),
      lastEnd: undefined,
      betweenMs: undefined,
    };
    const messages = line.sessions.get(session);
    if (messages === undefined) this.#refuse(name, line);
    this.#lines.set(name, line);
    line.sessions.set(session, (messages ?? 0) + 1);
    return () => this.#leave(name, line, session);
  }

  #refuse(name: string, { sessions, betweenMs = 0 }: Line): void {
    const { maxInFlight, queueLength, limitMs } = this.#roomOf(name);
    const ahead = sessions.size + 1 - maxInFlight;
    if (ahead > queueLength)
      throw new ApiError(429, `${name} is busy, and as many sessions wait for it as may.`, stayOf(betweenMs));
    const waitMs = ahead * betweenMs;
    if (waitMs <= limitMs) return;
    const text = `${name} is busy: ${ahead - 1} sessions wait for it already, and a call may take ${formatDuration(limitMs)}.`;
    throw new ApiError(429, text, stayOf(waitMs - limitMs));
  }

  #leave(name: string, line: Line, session: string): void {
    const now = this.#clock.now();
    const isCrowded = line.sessions.size > this.#roomOf(name).maxInFlight;
    if (isCrowded && line.lastEnd !== undefined) {
      const mean = line.betweenMs ?? now - line.lastEnd;
      line.betweenMs = mean + (now - line.lastEnd - mean) / samples;
    }
    line.lastEnd = isCrowded ? now : undefined;
    const messages = line.sessions.get(session) ?? 1;
    if (messages > 1) line.sessions.set(session, messages - 1);
    else line.sessions.delete(session);
  }
}

const stayOf = (ms: number): number => Math.min(longestStay, Math.max(1, Math.ceil(ms / 1000)));
