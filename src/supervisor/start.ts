import type { AnyActorRef } from 'xstate';
import type { CheckedChildSpec } from './childSpec.ts';
import { messageOf } from '../policy/failures/thrown.ts';
import { startFirst } from './restart.ts';
import { stopSupervisorAtOnce } from './shutdown.ts';
import { type Child, type Supervision, addChild, isActive, removeChild } from './supervision.ts';

/**
 * Starts the children of the options in their order. When one fails, those before it are stopped at once, last first.
 * @throws Error naming the child that failed, with what it threw as `cause`.
 */
export function startSupervisor(supervision: Supervision): void {
  supervision.state = 'starting';
  try {
    for (const child of [...supervision.children.values()]) {
      if (isActive(supervision)) startOrThrow(supervision, child);
    }
  } catch (error) {
    stopSupervisorAtOnce(supervision);
    throw error;
  }
  if (isActive(supervision)) supervision.state = 'running';
}

/**
 * Adds a child to a running supervisor and starts it.
 * @throws Error naming the child when it fails to start; it is gone from the table then.
 */
export function startNewChild(supervision: Supervision, spec: CheckedChildSpec): AnyActorRef {
  const child = addChild(supervision, spec);
  try {
    return startOrThrow(supervision, child);
  } catch (error) {
    removeChild(supervision, child);
    throw error;
  }
}

function startOrThrow(supervision: Supervision, child: Child): AnyActorRef {
  const { ref, failure } = startFirst(supervision, child);
  if (failure === undefined && ref !== undefined) return ref;
  const why = messageOf(failure?.error);
  throw new Error(`Child \`${child.spec.id}\` of supervisor \`${supervision.name}\` failed to start: ${why}`, {
    cause: failure?.error,
  });
}
