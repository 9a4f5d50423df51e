import type { AnyActorRef } from 'xstate';
import { supervisorLogic } from '../supervisor/supervisorLogic.ts';
import type { SupervisorSnapshot } from '../supervisor/supervision.ts';

/** Kind of an actor to an inspector. `slot` is the outside of a machine, such as its process: it is not shown as an actor. */
export type ActorKind = 'supervisor' | 'machine' | 'slot';

interface WithLogic {
  readonly logic?: { readonly config?: unknown };
}

export function kindOf(ref: AnyActorRef): ActorKind {
  const { logic } = ref as WithLogic;
  if (logic === supervisorLogic) return 'supervisor';
  return configOf(ref) === undefined ? 'slot' : 'machine';
}

/** The configuration of a machine; of callbacks and promises XState keeps the function under the same name. */
export function configOf(ref: AnyActorRef): object | undefined {
  const config = (ref as WithLogic).logic?.config;
  return typeof config === 'object' && config !== null ? config : undefined;
}

/** The live actors below one, parents before children, without slots. */
export function* actorsBelow(ref: AnyActorRef): Generator<AnyActorRef, void, undefined> {
  for (const child of childrenOf(ref)) {
    if (kindOf(child) === 'slot') continue;
    yield child;
    yield* actorsBelow(child);
  }
}

function* childrenOf(ref: AnyActorRef): Generator<AnyActorRef, void, undefined> {
  const snapshot = ref.getSnapshot() as Partial<SupervisorSnapshot> & {
    readonly children?: Readonly<Record<string, AnyActorRef | undefined>>;
  };
  if (kindOf(ref) === 'supervisor') {
    for (const { ref: child } of snapshot.supervision?.children.values() ?? []) if (child !== undefined) yield child;
    return;
  }
  for (const child of Object.values(snapshot.children ?? {})) if (child !== undefined) yield child;
}
