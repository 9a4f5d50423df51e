import type {
  ActorLogic,
  ActorSystem,
  ActorSystemInfo,
  AnyActorRef,
  AnyEventObject,
  EventObject,
  Snapshot,
} from 'xstate';
import type { Clock, Random, Timer } from '../policy/clock.ts';
import type { Fact, Facts } from '../policy/facts/facts.ts';
import type { CheckedChildSpec } from './childSpec.ts';
import type { EventQueue } from './eventQueue.ts';
import { messageOf, stackOf } from '../policy/failures/thrown.ts';
import type { Exit } from './exit.ts';
import { type RestartWindow, createRestartWindow } from './restartWindow.ts';
import type { CheckedSubtreeOptions, SubtreeOptions } from './supervisorOptions.ts';

/** State of a child; `asleep` has no actor until something is for it, `restarting` waits for its next start, `quarantined` waits to be released. */
export type ChildState = 'asleep' | 'starting' | 'running' | 'restarting' | 'stopping' | 'stopped' | 'quarantined';

/** A hook that hears of the end of one incarnation. */
export type ExitListener = (exit: Exit, incarnation: number) => void;

/** Row of a supervisor's table: the child over all its incarnations. */
export interface Child {
  readonly spec: CheckedChildSpec;
  state: ChildState;
  /** The live incarnation; undefined between two. */
  ref: AnyActorRef | undefined;
  incarnation: number;
  /** Restarts in all. */
  restarts: number;
  /** Restarts of the running series; steers the backoff. */
  series: number;
  /** Time when the live (or last) incarnation started, monotonic ms. */
  startedAt: number;
  window: RestartWindow | undefined;
  /** Its restarts as the limits of the supervisor count them. */
  ownShare: RestartWindow | undefined;
  lastExit: Exit | undefined;
  lastFailure: Exit | undefined;
  /** Type of the last event the live (or last) incarnation was given. */
  lastEvent: string | undefined;
  /** Messages for the next incarnation; undefined when there are none. */
  held: EventQueue | undefined;
  /** Messages that were refused or dropped. */
  deadLetters: number;
  /** The start it waits for. */
  plan: StartPlan | undefined;
  /** State that it gets once it is gone, when the supervisor wants it gone. */
  next: 'stopped' | 'restarting' | 'quarantined';
  /** Set when the supervisor asked it to end or ended it. */
  asked: 'shutdown' | 'killed' | undefined;
  shutdownTimer: Timer | undefined;
  whenGone: (() => void)[] | undefined;
  watchers: Set<ExitListener> | undefined;
}

/** A start to come, of one child or of a group in order. A child that left it (`child.plan` is another) is not started. */
export interface StartPlan {
  readonly members: readonly Child[];
  /** Monotonic ms. */
  readonly at: number;
  /** Starts the members that have not left, or notes that it is due; does nothing when all have. */
  readonly run: () => void;
  /** Members that have not left. */
  waiting: number;
  timer: Timer | undefined;
  /** Its time has come, but a member is still on its way out. */
  due: boolean;
}

/** Everything one supervisor knows. Mutated in place: copying the table would make each start cost as much as there are children. */
export interface Supervision {
  readonly name: string;
  /** Its own name and those above it, from the root down. */
  readonly path: readonly string[];
  /** A root has nobody to escalate to. */
  readonly root: boolean;
  readonly options: CheckedSubtreeOptions;
  readonly surroundings: Surroundings;
  readonly self: AnyActorRef;
  readonly stopAtOnce: (child: AnyActorRef) => void;
  /** The logic of supervisors, by which nested ones are known. */
  readonly logic: SupervisorLogic;
  /** In start order. */
  readonly children: Map<string, Child>;
  readonly window: RestartWindow;
  state: 'starting' | 'running' | 'stopping' | 'stopped';
  /** Restarts of all children. */
  restarts: number;
  /** Messages to children, and to none, that were refused or dropped. */
  deadLetters: number;
  /** Settles when the orderly stop is over; set when it begins. */
  stopped: Promise<void> | undefined;
}

/** Surroundings that a whole tree shares. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts | undefined;
  readonly onEmit: ((child: string, event: AnyEventObject) => void) | undefined;
  readonly sleepers: Sleepers | undefined;
}

/** Permanent children of the root that have no actor yet: a name each. One that is started is a child like others, and is not among these any more. */
export interface Sleepers {
  ids(): Iterable<string>;
  /** One of them; `wake` has it started, at once. */
  get(id: string): { wake(): void } | undefined;
}

/** Input that a supervisor actor is created with. */
export interface SupervisorInput {
  /** Its own name is the last one. */
  readonly path: readonly string[];
  readonly root: boolean;
  readonly options: SubtreeOptions;
  readonly surroundings: Surroundings;
}

/** Events that a supervisor actor takes; everything else is ignored. */
type SupervisorEvent =
  | { readonly type: 'shutdown' }
  | { readonly type: 'supervisor.end'; readonly output: unknown }
  | { readonly type: 'xstate.stop' };

export type SupervisorSnapshot = Snapshot<unknown> & {
  readonly supervision: Supervision;
  readonly can: (event: { readonly type: string }) => boolean;
  /** The live table has references to itself, so an inspector gets the tree. */
  readonly toJSON: () => object;
};

export type SupervisorLogic = ActorLogic<
  SupervisorSnapshot,
  SupervisorEvent,
  SupervisorInput,
  ActorSystem<ActorSystemInfo>,
  EventObject
>;

/** Adds a child to the table, not started. */
export function addChild(supervision: Supervision, spec: CheckedChildSpec): Child {
  const child: Child = {
    spec,
    state: 'stopped',
    ref: undefined,
    incarnation: 0,
    restarts: 0,
    series: 0,
    startedAt: 0,
    window: undefined,
    ownShare: undefined,
    lastExit: undefined,
    lastFailure: undefined,
    lastEvent: undefined,
    held: undefined,
    deadLetters: 0,
    plan: undefined,
    next: 'stopped',
    asked: undefined,
    shutdownTimer: undefined,
    whenGone: undefined,
    watchers: undefined,
  };
  supervision.children.set(spec.id, child);
  return child;
}

/** Takes a child out of the table, unless another one of its id has come in the meantime. */
export function removeChild(supervision: Supervision, child: Child): void {
  if (supervision.children.get(child.spec.id) === child) supervision.children.delete(child.spec.id);
}

/** The restart window of a child; most children never need one. */
export function windowOf(child: Child): RestartWindow {
  child.window ??= createRestartWindow(child.spec.intensity, child.spec.periodMs);
  return child.window;
}

/** The restarts of a child within the limits of its supervisor. */
export function ownShareOf(child: Child, { intensity, periodMs }: CheckedSubtreeOptions): RestartWindow {
  child.ownShare ??= createRestartWindow(intensity, periodMs);
  return child.ownShare;
}

/** Tells whether the supervisor still starts and restarts children. */
export function isActive(supervision: Supervision): boolean {
  return supervision.state === 'starting' || supervision.state === 'running';
}

/** The sleepers under a supervisor; none where it does not run. */
export function sleepersOf(supervision: Supervision): Sleepers | undefined {
  return supervision.root && isActive(supervision) ? supervision.surroundings.sleepers : undefined;
}

/** Tells a fact. Never throws. */
export function tell(surroundings: Surroundings, fact: Fact): void {
  try {
    surroundings.facts?.tell(fact);
  } catch {
    // Facts promise not to throw; a supervisor must live even if they do.
  }
}

/** Calls a hook of the host; a throw is told and goes no further. */
export function guard<T>(surroundings: Surroundings, event: string, hook: () => T): T | undefined {
  try {
    return hook();
  } catch (error) {
    tell(surroundings, { type: 'listener.failed', event, error: messageOf(error), stack: stackOf(error) });
    return undefined;
  }
}

/** The supervision of a child that is itself a live supervisor. */
export function nestedOf(supervision: Supervision, child: Child): Supervision | undefined {
  if (child.ref === undefined || child.spec.logic !== supervision.logic) return undefined;
  return (child.ref.getSnapshot() as Partial<SupervisorSnapshot>).supervision;
}
