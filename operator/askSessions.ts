import { type ControlAnswer, askInTurn } from './client.ts';
import { type LiveStatus, readWhyAnswer } from '../src/control/answers.ts';
import { sanitize } from '../src/policy/sanitize.ts';
import type { SessionWhy } from '../src/sessions/why.ts';
import type { AskedRuntime } from './askRuntimes.ts';
import { systemClock } from '../src/runtime/systemClock.ts';

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
