import type { AnyActorRef, Snapshot } from 'xstate';

type Children = Readonly<Record<string, AnyActorRef | undefined>>;

const none: Children = {};

/**
 * An observer that stops what a machine leaves running when it throws in an action, as XState does not. It watches the
 * machine's own machines as well, down to the leaves. Costs a comparison per event until a child comes or goes.
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
    // One that throws at its start is heard of for the first time.
    this.next(this.#actor.getSnapshot());
    for (const orphan of Object.values(this.#known)) stopOrphan(orphan);
  }
}

function stopOrphan(orphan: AnyActorRef | undefined): void {
  if (orphan === undefined) return;
  try {
    const { status } = orphan.getSnapshot() as Snapshot<unknown>;
    if (status === 'active') orphan.send({ type: 'xstate.stop' });
  } catch {
    // One that cannot be read or stopped must not keep the others alive.
  }
}

function childrenOf(snapshot: unknown): Children {
  if (typeof snapshot !== 'object' || snapshot === null || !('children' in snapshot)) return none;
  const { children } = snapshot;
  return typeof children === 'object' && children !== null ? (children as Children) : none;
}
