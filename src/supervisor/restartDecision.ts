import { restartDelay } from './restartBackoff.ts';
import { addRestart, forget, heaviest } from './restartWindow.ts';
import { type Child, type Supervision, windowOf } from './supervision.ts';

/**
 * What becomes of a child that is to come back. It is restarted after a delay, while `culprit`, which has used up the window
 * of the supervisor, goes to quarantine; or it goes there itself, because of its own window or (`gaveUp`) the supervisor's;
 * or its supervisor fails with it.
 */
export type RestartDecision =
  | { readonly next: 'restart'; readonly delayMs: number; readonly culprit: Child | undefined }
  | { readonly next: 'quarantine'; readonly gaveUp: boolean }
  | { readonly next: 'escalate' };

/** Decides about a child that ended and is to come back; its restart is counted in both windows. */
export function decideRestart(supervision: Supervision, child: Child): RestartDecision {
  const { surroundings, window, root } = supervision;
  const { spec } = child;
  const now = surroundings.clock.now();
  if (now - child.startedAt >= spec.backoff.resetAfterMs) child.series = 0;
  if (!addRestart(windowOf(child), now, spec.id)) return { next: 'quarantine', gaveUp: false };
  const culprit = addRestart(window, now, spec.id) ? undefined : culpritOf(supervision, child, now);
  if (culprit === child) return root ? { next: 'quarantine', gaveUp: true } : { next: 'escalate' };
  return { next: 'restart', delayMs: restartDelay(spec.backoff, child.series, surroundings.random), culprit };
}

/**
 * The child that goes to quarantine for a window that is used up: below the root and in a group strategy the child itself; else the one with
 * most restarts, which gives its room up. Undefined when that one is not up any more: there is room then, and nobody to blame.
 */
function culpritOf({ window, root, options, children }: Supervision, child: Child, now: number): Child | undefined {
  const { id } = child.spec;
  if (!root || options.strategy !== 'one_for_one') return child;
  const heavy = heaviest(window, now, id);
  if (heavy === id) return child;
  forget(window, heavy);
  addRestart(window, now, id);
  const culprit = children.get(heavy);
  return culprit !== undefined && isUp(culprit) ? culprit : undefined;
}

/** Whether a child is live or on its way back, as opposed to put culprit or stopped for good. */
export function isUp(child: Child): boolean {
  return ['starting', 'running', 'restarting'].includes(child.state) || child.next === 'restarting';
}
