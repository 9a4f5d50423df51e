import { type AnyActorRef, type AnyEventObject, type Snapshot, createActor } from 'xstate';
import { type Exit, exitOf } from './exit.ts';
import { guardianOf } from './orphans.ts';
import { type Child, type Supervision, guard, tell } from './supervision.ts';

/** What came of a start. */
export interface Started {
  /** Undefined when there was nothing to create. */
  readonly ref: AnyActorRef | undefined;
  /** How the incarnation ended, when that was during its start and nobody had asked it to. */
  readonly exit: Exit | undefined;
}

/**
 * Creates and starts the next incarnation of a child. Never throws.
 * @param ended - called once, when the incarnation is over; during the start the child is still `starting` then.
 */
export function startIncarnation(supervision: Supervision, child: Child, ended: (exit: Exit) => void): Started {
  const { surroundings } = supervision;
  let ref: AnyActorRef | undefined;
  child.state = 'starting';
  child.incarnation += 1;
  child.startedAt = surroundings.clock.now();
  child.asked = undefined;
  try {
    const created = create(supervision, child);
    ref = created;
    child.ref = created;
    observe(supervision, child, created, ended);
    guard(surroundings, 'onStart', () => child.spec.onStart?.(created, child.incarnation));
    created.start();
  } catch (error) {
    abandon(supervision, child);
    ended({ reason: 'failure', error });
  }
  if (child.ref === undefined) return { ref, exit: isStarting(child) ? child.lastExit : undefined };
  if (isStarting(child)) child.state = 'running';
  else stopLate(supervision, child, child.ref);
  tell(surroundings, { type: 'child.started', child: child.spec.id, incarnation: child.incarnation });
  return { ref, exit: undefined };
}

function create(supervision: Supervision, { spec }: Child): AnyActorRef {
  const { surroundings, logic, self } = supervision;
  const nested = { name: spec.id, root: false, options: spec.input ?? {}, surroundings };
  return createActor(spec.logic, {
    id: spec.id,
    input: spec.logic === logic ? nested : spec.input,
    parent: self,
    ...(spec.systemId !== undefined && { systemId: spec.systemId }),
  });
}

/** Listens as an observer: the events to the parent name only the id, and an actor that a stranger stopped sends none. */
function observe(supervision: Supervision, child: Child, ref: AnyActorRef, ended: (exit: Exit) => void): void {
  const over = (): void => {
    if (child.ref !== ref) return;
    const exit = exitOf(ref.getSnapshot() as Snapshot<unknown>, child.asked);
    child.ref = undefined;
    ended(exit);
  };
  const guardian = guardianOf(ref);
  ref.subscribe({
    next: guardian.next,
    error() {
      guardian.error();
      over();
    },
    complete: over,
  });
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

/** Whoever stopped the child before its actor ran stopped nothing yet, unless he asked it and waits. */
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
