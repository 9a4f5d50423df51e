import type { AnyActorRef, Snapshot } from 'xstate';
import { discardHeld } from './mailbox.ts';
import { becomes, leavePlan } from './startPlan.ts';
import { type Child, type Supervision, guard, removeChild } from './supervision.ts';

/** Children that may be stopped in one turn of the event loop; the supervisor answers between two batches. */
const batch = 256;

/**
 * Stops children one at a time, last first, each up to its limit. Never rejects; over within `maxStopMs`.
 * @param wanted - asked again when a child's turn comes, as the wait for the others may have taken long.
 */
export async function stopChildren(
  supervision: Supervision,
  children: readonly Child[],
  wanted: (child: Child) => boolean = () => true,
): Promise<void> {
  const { clock } = supervision.surroundings;
  const deadline = clock.now() + supervision.options.maxStopMs;
  for (const [index, child] of children.toReversed().entries()) {
    if (!wanted(child)) continue;
    beginStop(supervision, child, deadline - clock.now());
    if (child.ref !== undefined) await gone(child);
    else if (index % batch === batch - 1) await nextTurn(supervision);
  }
}

/** Stops one child and forgets its restart. Resolves when it is gone, always. */
export async function stopChild(supervision: Supervision, child: Child): Promise<void> {
  leavePlan(supervision, child);
  becomes(child, 'stopped');
  discardHeld(supervision, child, 'stopped');
  await stopChildren(supervision, [child]);
}

/** The orderly end of a whole supervisor: its children in reverse, then itself with `output`. Once; later calls share it. */
export function stopSupervisor(supervision: Supervision, output?: unknown): Promise<void> {
  if (supervision.stopped !== undefined) return supervision.stopped;
  // Set before the first child hears of the stop: that child may ask for the same one.
  const { promise, resolve } = deferred();
  supervision.stopped = promise;
  void end(supervision, output).then(resolve);
  return promise;
}

async function end(supervision: Supervision, output: unknown): Promise<void> {
  supervision.state = 'stopping';
  const children = [...supervision.children.values()];
  for (const child of children) {
    leavePlan(supervision, child);
    becomes(child, 'stopped');
    discardHeld(supervision, child, 'stopped');
  }
  await stopChildren(supervision, children);
  supervision.state = 'stopped';
  const { status } = supervision.self.getSnapshot() as Snapshot<unknown>;
  if (status === 'active') supervision.self.send({ type: 'supervisor.end', output });
}

/** Stops a supervisor's children at once, last first: its own parent gave it no time, or its start failed. */
export function stopSupervisorAtOnce(supervision: Supervision): void {
  supervision.state = 'stopped';
  for (const child of [...supervision.children.values()].toReversed()) {
    leavePlan(supervision, child);
    becomes(child, 'stopped');
    discardHeld(supervision, child, 'stopped');
    cut(supervision, child, 'shutdown');
  }
}

/** Asks a child to end and gives it its limit, or stops it at once if it cannot be asked. */
function beginStop(supervision: Supervision, child: Child, atMostMs: number): void {
  const { ref, spec } = child;
  if (ref === undefined) {
    if (child.state === 'stopped' && spec.restart === 'temporary') removeChild(supervision, child);
    return;
  }
  if (child.state === 'stopping') return;
  child.state = 'stopping';
  const limitMs = Math.min(typeof spec.shutdown === 'number' ? spec.shutdown : Number.POSITIVE_INFINITY, atMostMs);
  if (spec.shutdown === 'brutal_kill') return cut(supervision, child, 'killed');
  if (!takesShutdown(ref)) return cut(supervision, child, 'shutdown');
  child.asked = 'shutdown';
  const kill = (): void => {
    cut(supervision, child, 'killed');
  };
  // Keeps the process alive: the caller that waits for the stop is promised its end.
  if (limitMs > 0) child.shutdownTimer = supervision.surroundings.clock.setTimeout(kill, limitMs, { ref: true });
  guard(supervision.surroundings, 'shutdown', () => {
    ref.send({ type: 'shutdown' });
  });
  if (limitMs <= 0) kill();
}

function cut(supervision: Supervision, child: Child, asked: 'shutdown' | 'killed'): void {
  const { ref } = child;
  if (ref === undefined) return;
  child.state = 'stopping';
  child.asked = asked;
  guard(supervision.surroundings, 'stop', () => {
    supervision.stopAtOnce(ref);
  });
}

interface Asking {
  can(event: { readonly type: string }): boolean;
}

function takesShutdown(ref: AnyActorRef): boolean {
  try {
    const snapshot: unknown = ref.getSnapshot();
    return isAsking(snapshot) && snapshot.can({ type: 'shutdown' });
  } catch {
    return false;
  }
}

function isAsking(snapshot: unknown): snapshot is Asking {
  return typeof snapshot === 'object' && snapshot !== null && 'can' in snapshot && typeof snapshot.can === 'function';
}

function gone(child: Child): Promise<void> {
  const { promise, resolve } = deferred();
  child.whenGone ??= [];
  child.whenGone.push(resolve);
  return promise;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function nextTurn({ surroundings }: Supervision): Promise<void> {
  return new Promise((resolve) => {
    surroundings.clock.nextTurn(resolve);
  });
}
