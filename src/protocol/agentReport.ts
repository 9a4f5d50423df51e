import { parsedJson } from '../policy/text/parsedJson.ts';
import { type SeenAnswer, textOf } from '../policy/spinning/answerKey.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Clock } from '../policy/clock.ts';
import type { AgentName } from './agents/profiles.ts';

/** Effects of a run on the world, as far as its stream told: `unknown` where it does not tell. */
export type AgentEffects = 'none' | 'possible' | 'unknown';

/** Calls that a run made, as far as its stream told. */
export interface AgentCalls {
  /** Answers of the model; undefined where they are not told apart. */
  readonly model?: number | undefined;
  /** Tools that the model asked for, those that were declined included. */
  readonly tools: number;
}

/** Report of an agent's command line on its run, in its own protocol. */
export interface AgentReport {
  readonly agent: AgentName;
  /** The answer, up to 1 MB; absent when there was none. */
  readonly text?: string | undefined;
  /** Session that the run can be resumed by. */
  readonly sessionId?: string | undefined;
  /** Effects of its tools: whether they may have changed something. */
  readonly effects: AgentEffects;
  /** True once it told its end; a run that was killed did not. */
  readonly concluded: boolean;
  /** Calls that it made; absent where it told its end alone. */
  readonly calls?: AgentCalls | undefined;
  /** Why it did not succeed, by its own word. */
  readonly failure?: FailureFacts | undefined;
  /** Why it waits, by its own word: to ask its API again, or for a person; absent once it has got on. */
  readonly waiting?: FailureFacts | undefined;
  /** True once its session could not be kept whole: it is not resumed as it was. @defaultValue false */
  readonly sessionLost?: boolean | undefined;
}

/**
 * Sign of liveness in a message of an agent: it gets on (`progress`), it announces that it will try again (`retry`), or it only shows that a connection
 * stands (`traffic`).
 */
export type AgentSign = 'progress' | 'retry' | 'traffic';

/** Hears the stdout of one run, line by line, and keeps only what judging it needs. */
export interface AgentReader {
  /** Reads one line without its end; what is no message of the protocol is passed over. Never throws. */
  line(text: string): AgentSign;
  /** Returns what is known so far. @param wallNow - wall time in ms, for limits that reset at a date. */
  report(wallNow: number): AgentReport;
}

/** Longest answer that is kept, in characters. */
export const longestAnswer = 1024 * 1024;

/** The beginning of an answer, as long as is kept. */
export function answer(text: string): string {
  return text.length > longestAnswer ? text.slice(0, longestAnswer) : text;
}

/** A line as an object of the protocol; undefined when it is anything else. */
export function messageIn(line: string): Readonly<Record<string, unknown>> | undefined {
  // Cheaper than parsing what cannot be a message.
  return line.trimStart().startsWith('{') ? recordIn(parsedJson(line)) : undefined;
}

/** The answer of a tool as an agent tells it: a text, a list of contents, or any other value. */
export function toldAnswer(ok: boolean, told: unknown): SeenAnswer {
  const value = Array.isArray(told) ? { content: told } : told;
  return ok ? { ok, value } : { ok, kind: 'tool', message: textOf(value) ?? JSON.stringify(value) ?? '' };
}

/** A value when it is an object of named fields. */
export function recordIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

/** The blocks of a message of Claude. */
export function blocksIn(message: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  const content = recordIn(message['message'])?.['content'];
  return Array.isArray(content) ? content.map(recordIn).filter((each) => each !== undefined) : [];
}

/** Usage as Anthropic tells it, what came of a cache apart, or as Codex does. */
export function usageOf(told: unknown, model?: unknown) {
  const usage = recordIn(told) ?? {};
  const count = (name: string): number => (typeof usage[name] === 'number' ? usage[name] : 0);
  const [read, write] = [count('cache_read_input_tokens'), count('cache_creation_input_tokens')];
  return {
    model: textIn(model),
    inputTokens: count('input_tokens') + read + write,
    cacheReadTokens: read + count('cached_input_tokens'),
    cacheWriteTokens: write,
    outputTokens: count('output_tokens'),
  };
}

/** A value when it is a text that says something. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Most ids that are told apart; later ones are counted each. */
const mostIds = 10_000;

/** Counts calls by their ids: one is told in several messages, but for those without an id. */
export class CallCount {
  readonly #ids = new Set<unknown>();
  #more = 0;

  get count(): number {
    return this.#ids.size + this.#more;
  }

  /** @returns whether it was not taken before. */
  take(id: unknown): boolean {
    if (this.#ids.has(id)) return false;
    if (id !== undefined && this.#ids.size < mostIds) this.#ids.add(id);
    else this.#more++;
    return true;
  }
}

/**
 * Tells which messages of an agent are signs of life. Progress is; announced retries are for as long as `retryLifeMs` after the last
 * progress, as an agent may be told to retry for hours; what only shows that a connection stands is none.
 */
export function createRetryLife(
  clock: Pick<Clock, 'now'>,
  touch: () => void,
  retryLifeMs: number,
): (sign: AgentSign) => void {
  let progressAt = clock.now();
  return (sign) => {
    if (sign === 'traffic') return;
    const now = clock.now();
    if (sign === 'progress') progressAt = now;
    if (now - progressAt < retryLifeMs) touch();
  };
}
