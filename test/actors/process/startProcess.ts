import { fileURLToPath } from 'node:url';
import { createActor, toPromise } from 'xstate';
import { processLogic } from '../../../src/actors/process/process.ts';
import type { SubprocessInput } from '../../../src/machines/subprocessInput.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { moment } from '../../support/moment.ts';
import { isAlive } from '../../support/temporary.ts';

export { isAlive };

export const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}.mjs`, import.meta.url));

/** Starts a fixture program as a run; `firstLine` is its readiness. */
export function startProcess(name: string, args: readonly string[] = [], input: Partial<SubprocessInput> = {}) {
  let heard = '';
  let tellLine: (line: string) => void;
  const firstLine = new Promise<string>((resolve) => {
    tellLine = resolve;
  });
  const actor = createActor(processLogic, {
    clock: systemClock,
    input: {
      command: process.execPath,
      args: [fixture(name), ...args],
      clock: systemClock,
      onOutput: (chunk) => {
        heard += heard.includes('\n') ? '' : Buffer.from(chunk).toString('utf8');
        if (heard.includes('\n')) tellLine(heard.slice(0, heard.indexOf('\n')));
      },
      ...input,
    },
  });
  actor.subscribe({ error: () => {} });
  const done = toPromise(actor);
  actor.start();
  return { actor, done, firstLine };
}

/** Whether none of them is left, with no turn of the event loop in between: a signal takes a moment to show, on a busy machine seconds. */
export function goneNow(...pids: number[]): boolean {
  const givenUp = systemClock.now() + 20_000;
  while (pids.some(isAlive) && systemClock.now() < givenUp);
  return !pids.some(isAlive);
}

export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Resolves when none of them is left; the limit of the test is the only bound. */
export async function allGone(...pids: number[]): Promise<void> {
  while (pids.some(isAlive)) await moment();
}
