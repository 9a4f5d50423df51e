import { seeWorld } from '../actors/process/processIdentity.ts';
import { type ControlAnswer, askRuntime } from '../control/client.ts';
import { sanitize } from '../policy/sanitize.ts';
import { type JudgedRuntime, judgeRuntimes, type RuntimeRow } from '../store/runtimes.ts';
import { systemClock } from './systemClock.ts';

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
  { now }: { readonly now: () => number },
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

/** Pids of the runtimes that answered. */
export function pidsOfAnswers(asked: readonly AskedRuntime<unknown>[]): readonly number[] {
  return asked.flatMap(({ runtime, answer }) => (answer === undefined ? [] : [runtime.pid]));
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
