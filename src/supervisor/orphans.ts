import type { AnyActorLogic, AnyActorRef, AnyActorScope, Snapshot } from 'xstate';

type Children = Readonly<Record<string, AnyActorRef | undefined>>;

const none: Children = {};

/**
 * An observer that stops what a machine leaves running when it throws in an action, and runs the cleanup of a callback whose `receive`
 * threw; XState does neither. It watches what the machine invokes as well, down to the leaves. Costs a comparison per event until a child comes or goes.
 */
export class Guardian {
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
