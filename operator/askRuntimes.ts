import { seeWorld } from '../src/actors/process/face.ts';
import { askInTurn, askRuntime, type ControlAnswer } from './client.ts';
import { formatDuration, sanitize } from '../src/policy/text/face.ts';
import { type JudgedRuntime, type RuntimeRow, isElsewhere, judgeRuntimes } from '../src/store/face.ts';
import { systemClock } from '../src/runtime/face.ts';
import { type LiveStatus, readWhyAnswer } from '../src/control/face.ts';
import type { SessionWhy } from '../src/sessions/face.ts';

/** A runtime that the database lists, and what it said. */
export interface AskedRuntime<T> {
  readonly runtime: JudgedRuntime;
  /** Its answer; undefined when it gave none, which `problem` explains. */
  readonly answer: T | undefined;
  /** Why there is no answer, for people; of one that stands still also what ends that. */
  readonly problem: string | undefined;
  /** It answered that it cannot answer this, as `problem` says. @defaultValue false */
  readonly refused?: boolean | undefined;
  /** Its process is there and said nothing in time: it is stopped, or its event loop stands still. @defaultValue it answered, or is no more */
  readonly frozen?: Frozen | undefined;
  /** The machine on which it runs and takes orders. @defaultValue this one */
  readonly elsewhere?: string | undefined;
}

/** `stopped`: by SIGSTOP or a debugger; `silent`: the system runs it, or does not say. */
type Frozen = 'stopped' | 'silent';

/** Time that a runtime may take to answer, in ms. */
const answerMs = 2000;

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
  const world = rows.length === 0 ? undefined : await seeWorld();
  const judged = world === undefined ? [] : judgeRuntimes(rows, world, now());
  return Promise.all(
    judged.map(async (runtime) => {
      if (isElsewhere(runtime)) return notHere(runtime);
      if (runtime.liveness === 'dead') return { runtime, answer: undefined, problem: 'its process is gone' };
      if (runtime.socket === undefined) return { runtime, answer: undefined, problem: 'it has no control socket' };
      const said = await askRuntime(runtime.socket, method, params, { clock: systemClock, timeoutMs: answerMs });
      if (!said.ok && said.reason === 'timeout') {
        const frozen = runtime.liveness === 'alive' && (await isStopped(runtime.pid)) ? 'stopped' : 'silent';
        return { runtime, answer: undefined, problem: frozenText(frozen, runtime.pid), frozen };
      }
      return { runtime, ...judgeAnswer(said, runtime, read) };
    }),
  );
}

/** Tells whether a process is stopped now: it may have been since it was asked. */
async function isStopped(pid: number): Promise<boolean> {
  return (await seeWorld()).entries.some((each) => each.pid === pid && each.stopped);
}

/** A control socket is reached on its own machine alone. */
function notHere(runtime: JudgedRuntime): AskedRuntime<never> {
  const { host = '', liveness, silentMs = 0 } = runtime;
  const gone = `it was last heard of on ${sanitize(host)} ${formatDuration(Math.round(silentMs / 1000) * 1000)} ago`;
  const problem = liveness === 'dead' ? gone : `it runs on ${sanitize(host)}: ask it, and give it orders, there`;
  return { runtime, answer: undefined, problem, elsewhere: host };
}

/** Pids of the runtimes that answered. */
export function pidsOfAnswers(asked: readonly AskedRuntime<unknown>[]): readonly number[] {
  return asked.flatMap(({ runtime, answer }) => (answer === undefined ? [] : [runtime.pid]));
}

function frozenText(frozen: Frozen, pid: number): string {
  const silence = `its socket does not answer for ${formatDuration(answerMs)}`;
  const remedy = `\`${remedyOf(frozen, pid)}\``;
  return frozen === 'stopped'
    ? `it is stopped (${silence}); ${remedy} has it go on`
    : `it is frozen or busy (${silence}); if it stays so, ${remedy} ends it, and the next start takes up what is left`;
}

/** The command that ends a standstill. A process whose event loop stands still hears no other signal. */
export function remedyOf(frozen: Frozen, pid: number): string {
  return frozen === 'stopped' ? `kill -CONT ${pid}` : `kill -KILL ${pid}`;
}

function judgeAnswer<T>(
  said: ControlAnswer,
  { liveness }: JudgedRuntime,
  read: (value: unknown) => T | undefined,
): Pick<AskedRuntime<T>, 'answer' | 'problem' | 'refused'> {
  const answer = said.ok ? read(said.value) : undefined;
  if (answer !== undefined) return { answer, problem: undefined };
  const unsure = liveness === 'unknown' ? 'whether it is alive cannot be told; ' : '';
  const refused = !said.ok && said.reason === 'refused' ? ({ refused: true } as const) : undefined;
  return {
    answer,
    problem: unsure + (said.ok ? 'its answer is of another version' : sanitize(said.message)),
    ...refused,
  };
}

/** A busy session of a live runtime, and what it waits for or why that is not known. */
export type AskedSession = { readonly session: string } & (
  | { readonly why: SessionWhy; readonly problem?: undefined }
  | { readonly why?: undefined; readonly problem: string }
);

/** Asks live runtimes what each of their busy sessions waits for, over one connection a runtime, up to 2 s an answer. Never rejects. */
export async function askSessions(asked: readonly AskedRuntime<LiveStatus>[]): Promise<readonly AskedSession[]> {
  const found = await Promise.all(
    asked.map(async ({ runtime, answer }) => {
      const busy = (answer?.sessions ?? []).filter(({ state }) => !state.startsWith('idle') && state !== 'stopped');
      const params = busy.map(({ session }) => ({ session }));
      const said = await askInTurn(runtime.socket ?? '', 'why', params, { clock: systemClock });
      return busy.map(({ session }, index) => read(session, said[index]));
    }),
  );
  return found.flat();
}

function read(session: string, answer: ControlAnswer | undefined): AskedSession {
  const why = answer?.ok === true ? readWhyAnswer(answer.value) : undefined;
  if (why !== undefined) return { session, why };
  return { session, problem: answer?.ok === false ? sanitize(answer.message) : 'its answer is of another version' };
}
