import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type AnyEventObject,
  createActor,
  type EventObject,
  type Snapshot,
} from 'xstate';
import { type Exit, exitOf } from './exit.ts';
import { deliverHeld } from './mailbox.ts';
import { type Child, guard, type Supervision, tell } from './supervision.ts';

/** Hears how an incarnation ended, and of its actor, unless there was nothing to create. */
type EndListener = (exit: Exit, ref: AnyActorRef | undefined) => void;

/**
 * Creates and starts the next incarnation of a child, then delivers what was held for it. Never throws.
 * @param ended - called once, when the incarnation is over; during the start the child is still `starting` then.
 * @returns its actor, also when it is over already; undefined when there was nothing to create.
 */
export function startIncarnation(supervision: Supervision, child: Child, ended: EndListener): AnyActorRef | undefined {
  const { surroundings } = supervision;
  let ref: AnyActorRef | undefined;
  child.state = 'starting';
  child.incarnation += 1;
  child.startedAt = surroundings.clock.now();
  child.asked = undefined;
  child.lastEvent = undefined;
  try {
    const created = create(supervision, child);
    ref = created;
    child.ref = created;
    observe(supervision, child, created, ended);
    guard(surroundings, 'onStart', () => child.spec.onStart?.(created, child.incarnation));
    created.start();
  } catch (error) {
    abandon(supervision, child);
    ended({ reason: 'failure', error }, ref);
  }
  if (child.ref === undefined) return ref;
  if (isStarting(child)) child.state = 'running';
  else stopLate(supervision, child, child.ref);
  tell(surroundings, { type: 'child.started', child: child.spec.id, incarnation: child.incarnation });
  deliverHeld(child);
  return ref;
}

function create(supervision: Supervision, child: Child): AnyActorRef {
  const { surroundings, self, path } = supervision;
  const { id, systemId, logic, input } = child.spec;
  const nested = logic === supervision.logic;
  const traced: AnyActorLogic = nested ? logic : new TracedLogic(logic, child);
  return createActor(traced, {
    id,
    input: nested ? { path: [...path, id], root: false, options: input ?? {}, surroundings } : input,
    parent: self,
    ...(systemId !== undefined && { systemId }),
  });
}

/**
 * Listens as an observer: the events to the parent name only the id, and an actor that a stranger stopped sends none.
 * Methods are shared; as closures they would hold half a KB more for each child.
 */
class Watch {
  readonly #child: Child;
  readonly #ref: AnyActorRef;
  readonly #guardian: Guardian;
  readonly #ended: EndListener;

  constructor(child: Child, ref: AnyActorRef, ended: EndListener) {
    this.#child = child;
    this.#ref = ref;
    this.#guardian = new Guardian(ref);
    this.#ended = ended;
  }

  next(snapshot: unknown): void {
    this.#guardian.next(snapshot);
  }

  error(): void {
    this.#guardian.error();
    this.complete();
  }

  complete(): void {
    const child = this.#child;
    if (child.ref !== this.#ref) return;
    const exit = exitOf(this.#ref.getSnapshot() as Snapshot<unknown>, child.asked);
    child.ref = undefined;
    this.#ended(exit, this.#ref);
  }
}

function observe(supervision: Supervision, child: Child, ref: AnyActorRef, ended: EndListener): void {
  ref.subscribe(new Watch(child, ref, ended));
  const { surroundings } = supervision;
  const { onEmit } = surroundings;
  if (onEmit === undefined) return;
  ref.on('*', (event: AnyEventObject) => {
    guard(surroundings, 'onEmit', () => {
      onEmit(child.spec.id, event);
    });
  });
}

function abandon(supervision: Supervision, child: Child): void {
  const half = child.ref;
  child.ref = undefined;
  if (half !== undefined) guard(supervision.surroundings, 'start', () => supervision.stopAtOnce(half));
}

/** A stop that came before the child's actor ran stopped nothing yet, unless it asked the actor and waits. */
function stopLate(supervision: Supervision, child: Child, ref: AnyActorRef): void {
  if (child.shutdownTimer !== undefined) return;
  child.state = 'stopping';
  child.asked = 'shutdown';
  guard(supervision.surroundings, 'stop', () => supervision.stopAtOnce(ref));
}

/** A function, so that the compiler does not take the state for what it was before the start. */
function isStarting(child: Child): boolean {
  return child.state === 'starting';
}

/** Sink for the type of the last event. */
export interface Traced {
  lastEvent: string | undefined;
}

/**
 * Actor logic that notes the type of each event it is given, from any sender, before it acts on it. Costs an assignment
 * per event and 40 bytes per actor; an inspector would cost as much again as the event itself.
 */
export class TracedLogic implements AnyActorLogic {
  readonly #logic: AnyActorLogic;
  readonly #traced: Traced;

  constructor(logic: AnyActorLogic, traced: Traced) {
    this.#logic = logic;
    this.#traced = traced;
  }

  /** Definition that inspectors draw the machine from. */
  get config(): unknown {
    return this.#logic.config;
  }

  transition(snapshot: unknown, event: EventObject, scope: AnyActorScope): unknown {
    // A machine that has failed is told to clean up: that is not what made it fail.
    if (event.type !== 'xstate.stop') this.#traced.lastEvent = event.type;
    return this.#logic.transition(snapshot, event, scope);
  }

  getInitialSnapshot(scope: AnyActorScope, input: unknown): unknown {
    return this.#logic.getInitialSnapshot(scope, input);
  }

  getPersistedSnapshot(snapshot: unknown, options?: unknown): Snapshot<unknown> {
    return this.#logic.getPersistedSnapshot(snapshot, options);
  }

  start(snapshot: unknown, scope: AnyActorScope): void {
    this.#logic.start?.(snapshot, scope);
  }
}

type Children = Readonly<Record<string, AnyActorRef | undefined>>;

const none: Children = {};

/**
 * An observer that stops what a machine leaves running when it throws in an action, and runs the cleanup of a callback whose `receive`
 * threw; XState does neither. It watches what the machine invokes as well, down to the leaves. Costs a comparison per event until a child comes or goes.
 */
class Guardian {
  readonly #actor: AnyActorRef;
  #known = none;

  constructor(actor: AnyActorRef) {
    this.#actor = actor;
  }

  next(snapshot: unknown): void {
    const children = childrenOf(snapshot);
    if (children === this.#known) return;
    for (const [id, child] of Object.entries(children)) {
      if (child !== undefined && child !== this.#known[id]) child.subscribe(new Guardian(child));
    }
    this.#known = children;
  }

  error(): void {
    // An orphan that throws at its start is heard of for the first time.
    this.next(this.#actor.getSnapshot());
    for (const orphan of Object.values(this.#known)) stopOrphan(orphan);
    cleanUp(this.#actor);
  }
}

function stopOrphan(orphan: AnyActorRef | undefined): void {
  if (orphan === undefined) return;
  try {
    const { status } = orphan.getSnapshot() as Snapshot<unknown>;
    if (status === 'active') orphan.send({ type: 'xstate.stop' });
  } catch {
    // An orphan that cannot be read or stopped must not keep the others alive.
  }
}

/** Logic that is made of a function takes a stop as the order to let go of what it holds; a machine holds only its children. */
function cleanUp(actor: AnyActorRef): void {
  try {
    const { logic } = actor as AnyActorRef & { readonly logic?: AnyActorLogic };
    if (typeof logic?.config !== 'function') return;
    logic.transition(actor.getSnapshot(), { type: 'xstate.stop' }, { self: actor } as AnyActorScope);
  } catch {
    // A cleanup that throws has done what it could.
  }
}

function childrenOf(snapshot: unknown): Children {
  if (typeof snapshot !== 'object' || snapshot === null || !('children' in snapshot)) return none;
  const { children } = snapshot;
  return typeof children === 'object' && children !== null ? (children as Children) : none;
}
