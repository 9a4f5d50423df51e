import { type Actor, type InspectionEvent, createActor } from 'xstate';
import { indexedScheduler, xstateClock } from './scheduler.ts';
import { stopSupervisor } from './shutdown.ts';
import { type Sleepers, type Surroundings, guard } from './supervision.ts';
import { type Supervisor, supervisorHandle } from './supervisorHandle.ts';
import { supervisorLogic } from './supervisorLogic.ts';
import { type SupervisorOptions, checkSupervisorOptions } from './supervisorOptions.ts';

export type { Supervisor } from './supervisorHandle.ts';
export type { SupervisorOptions } from './supervisorOptions.ts';

/** The supervisor at the top of a tree. It has nobody to escalate to, so it never gives up and never ends the process. */
export interface RootSupervisor extends Supervisor {
  /**
   * Starts the children in order. When one fails, those before it are stopped at once, last first; this supervisor is
   * over then.
   * @throws Error naming the child that failed to start, with what it threw as `cause`.
   * @throws RangeError when it was started or stopped before.
   */
  start(): void;
  /**
   * Stops the children, last first, one at a time, each up to its limit, then itself. Later calls join the first.
   * Always resolves, within `maxStopMs`; may be called from a descendant.
   */
  stop(): Promise<void>;
  /**
   * Has every event of the actor system heard, from here on, until the returned function is called; doubles the cost of each.
   * A throw is told and ignored.
   */
  inspect(observer: (event: InspectionEvent) => void): () => void;
  /** The root of the actor system. */
  readonly actor: Actor<typeof supervisorLogic>;
}

/**
 * Creates the root of a supervision tree; nothing runs before `start()`.
 * @param sleepers - its children that have no actor until something is for them. @defaultValue none
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * const root = createRootSupervisor({ clock: systemClock, random: Math.random, children: [{ id: 'kb', logic: server }] });
 * root.start();
 */
export function createRootSupervisor(options: SupervisorOptions, sleepers?: Sleepers): RootSupervisor {
  const checked = checkSupervisorOptions(options);
  const { name = 'root', clock, random, facts, onEmit, inspect } = options;
  const surroundings: Surroundings = { clock, random, facts, onEmit, sleepers };
  const actor = createActor(supervisorLogic, {
    id: name,
    input: { path: [name], root: true, options: checked, surroundings },
    clock: xstateClock(clock),
    ...(inspect !== undefined && { inspect: guarded(surroundings, inspect) }),
  });
  actor.system.scheduler = indexedScheduler(clock);
  let startError: { readonly thrown: unknown } | undefined;
  actor.subscribe({
    error(thrown: unknown) {
      startError = { thrown };
    },
  });
  const { supervision } = actor.getSnapshot();
  let fresh = true;
  return {
    ...supervisorHandle(supervision),
    actor,
    inspect(observer) {
      const subscription = actor.system.inspect({ next: guarded(surroundings, observer) });
      return () => subscription.unsubscribe();
    },
    start() {
      if (!fresh) throw new RangeError(`Expected supervisor \`${name}\` to be new, it was started or stopped before`);
      fresh = false;
      actor.start();
      if (startError !== undefined) throw startError.thrown;
    },
    async stop() {
      const started = !fresh;
      fresh = false;
      if (started) await stopSupervisor(supervision);
    },
  };
}

/** XState lets a throw of an inspector out into the sender of the event. */
function guarded(
  surroundings: Surroundings,
  inspect: (event: InspectionEvent) => void,
): (event: InspectionEvent) => void {
  return (event) => {
    guard(surroundings, 'inspect', () => {
      inspect(event);
    });
  };
}
