import { type ControlAnswer, askRuntime } from '../control/client.ts';
import { seeWorld } from '../actors/process/processIdentity.ts';
import { type JudgedRuntime, judgeRuntimes, type RuntimeRow } from '../store/runtimes.ts';
import { systemClock } from '../runtime/systemClock.ts';
import type { Io } from './io.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './timeText.ts';

/** A runtime that the database lists, and what it said. */
export interface AskedRuntime<T> {
  readonly runtime: JudgedRuntime;
  /** What it answered; undefined when it did not, which `problem` explains. */
  readonly answer: T | undefined;
  /** Why there is no answer, for people. */
  readonly problem: string | undefined;
}

/**
 * Asks every runtime of a database that may be alive the same thing, all at once, each up to 2 s. Never rejects.
 * @param read - reads an answer; undefined when it is none.
 * @param params - of the request.
 */
export async function askRuntimes<T>(
  rows: readonly RuntimeRow[],
  { now }: Pick<Io, 'now'>,
  method: string,
  read: (value: unknown) => T | undefined,
  params?: unknown,
): Promise<readonly AskedRuntime<T>[]> {
  const judged = rows.length === 0 ? [] : judgeRuntimes(rows, await seeWorld(), now());
  return Promise.all(
    judged.map(async (runtime) => {
      if (runtime.liveness === 'dead') return { runtime, answer: undefined, problem: 'its process is gone' };
      if (runtime.socket === undefined) return { runtime, answer: undefined, problem: 'it has no control socket' };
      const said = await askRuntime(runtime.socket, method, params, { clock: systemClock });
      return { runtime, ...judgeAnswer(said, runtime, read) };
    }),
  );
}

function judgeAnswer<T>(
  said: ControlAnswer,
  { liveness }: JudgedRuntime,
  read: (value: unknown) => T | undefined,
): { readonly answer: T | undefined; readonly problem: string | undefined } {
  const answer = said.ok ? read(said.value) : undefined;
  if (answer !== undefined) return { answer, problem: undefined };
  const unsure = liveness === 'unknown' ? 'whether it is alive cannot be told; ' : '';
  return { answer, problem: unsure + (said.ok ? 'its answer is of another version' : sanitize(said.message)) };
}

/** A runtime for people: `gateway.mjs (pid 4711, started 5m ago)`. */
export function runtimeText({ name, pid, startedAt }: RuntimeRow, now: number): string {
  return `${sanitize(name)} (pid ${pid}, started ${ago(startedAt, now)})`;
}

/** One line for each runtime that did not answer. */
export function problemLines(asked: readonly AskedRuntime<unknown>[], now: number): string {
  return asked
    .filter(({ problem }) => problem !== undefined)
    .map(({ runtime, problem }) => `${runtimeText(runtime, now)} does not answer: ${problem}.\n`)
    .join('');
}
