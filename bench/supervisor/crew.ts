import {
  type ActorScope,
  type AnyActorLogic,
  type AnyActorRef,
  type EventObject,
  type Snapshot,
  createActor,
} from 'xstate';
import { indexedScheduler, xstateClock } from '../../src/supervisor/scheduler.ts';
import { createRootSupervisor } from '../../src/supervisor/supervisor.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';

/** Children, and whoever looks after them. */
export interface Crew {
  /** Adds a child and starts it. */
  start(id: string, logic: AnyActorLogic): void;
  /** Adds a child that is started again one turn of the event loop after each crash; `started` hears of each start. */
  keep(id: string, logic: AnyActorLogic, started: (ref: AnyActorRef) => void): void;
  ref(id: string): AnyActorRef | undefined;
  /** Restarts of all children but one. */
  restartsWithout(id: string): number;
  /** Stops all, last first. */
  stop(): Promise<void>;
}

/** The supervisor of this project, without listeners. */
export function unwedgeCrew(): Crew {
  const root = createRootSupervisor({ clock: systemClock, random: Math.random, intensity: Number.POSITIVE_INFINITY });
  root.start();
  return {
    start(id, logic) {
      root.startChild({ id, logic });
    },
    keep(id, logic, onStart) {
      root.startChild({ id, logic, onStart, intensity: Number.POSITIVE_INFINITY, backoff: { baseMs: 0 } });
    },
    ref: (id) => root.ref(id),
    restartsWithout: (id) =>
      (root.tree().children ?? []).reduce((sum, child) => sum + (child.id === id ? 0 : child.restarts), 0),
    stop: () => root.stop(),
  };
}

/** Bare actors under one root that only keeps them in a Map; the same clock and indexed scheduler as under the supervisor. */
export function xstateCrew(): Crew {
  let scope: ActorScope<Snapshot<unknown>, EventObject> | undefined;
  const active: Snapshot<unknown> = { status: 'active', output: undefined, error: undefined };
  const root = createActor(
    {
      getInitialSnapshot(given: ActorScope<Snapshot<unknown>, EventObject>) {
        scope = given;
        return active;
      },
      transition: (snapshot) => snapshot,
      getPersistedSnapshot: (snapshot) => snapshot,
    },
    { clock: xstateClock(systemClock) },
  );
  root.system.scheduler = indexedScheduler(systemClock);
  root.start();
  return rawCrew(
    (id, logic) => createActor(logic, { id, parent: root }),
    (ref) => scope?.stopChild(ref),
  );
}

/** An actor system for each actor, as `createActor` makes it by itself. */
export function loneCrew(): Crew {
  return rawCrew(
    (id, logic) => createActor(logic, { id }),
    (ref) => {
      ref.stop();
    },
  );
}

type Startable = AnyActorRef & { readonly start: () => void; readonly stop: () => void };

function rawCrew(create: (id: string, logic: AnyActorLogic) => Startable, stop: (ref: Startable) => void): Crew {
  const refs = new Map<string, Startable>();
  const start = (id: string, logic: AnyActorLogic): Startable => {
    const ref = create(id, logic);
    refs.set(id, ref);
    ref.start();
    return ref;
  };
  const keep: Crew['keep'] = (id, logic, started) => {
    const ref = create(id, logic);
    refs.set(id, ref);
    ref.subscribe({
      error() {
        setImmediate(() => keep(id, logic, started));
      },
    });
    started(ref);
    ref.start();
  };
  return {
    start,
    keep,
    ref: (id) => refs.get(id),
    restartsWithout: () => 0,
    async stop() {
      for (const ref of [...refs.values()].toReversed()) stop(ref);
    },
  };
}
