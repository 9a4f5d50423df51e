import { fromCallback } from 'xstate';
import { subprocessMachine } from '../../machines/subprocess.ts';
import type { ProcessOrder } from '../../machines/subprocessEvents.ts';
import type { SubprocessRun } from '../../machines/subprocessInput.ts';
import { StartedChild } from './childProcess.ts';

/**
 * Runs one command as an actor, see {@link subprocessMachine}; meant as a temporary child of a supervisor. When the actor
 * is stopped without having ended, the process and everything below it gets SIGKILL at once.
 *
 * @example
 * const run = createActor(processLogic, { clock, input: { command: 'git', args: ['status'], overallMs: 10_000, clock } }).start();
 * const { reason, stdout } = await toPromise(run);
 */
export const processLogic = subprocessMachine.provide({
  actors: {
    process: fromCallback<ProcessOrder, SubprocessRun>(({ input, sendBack, receive }) => {
      const child = new StartedChild(input, sendBack);
      receive((order) => child.take(order));
      return () => child.release();
    }),
  },
});
