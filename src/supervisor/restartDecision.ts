import { restartDelay } from './restartBackoff.ts';
import { addRestart, hasRestarted, roomInMs } from './restartWindow.ts';
import { type Child, type Supervision, ownShareOf, windowOf } from './supervision.ts';

/**
 * What becomes of a child that is to come back. It is restarted after a delay; or it goes to quarantine, because of its own
 * window or (`gaveUp`) the limits of the supervisor; or its supervisor fails with it.
 */
export type RestartDecision =
  | { readonly next: 'restart'; readonly delayMs: number }
  | { readonly next: 'quarantine'; readonly gaveUp: boolean }
  | { readonly next: 'escalate' };

/** Decides about a child that ended and is to come back; its restart is counted in all windows. */
export function decideRestart(supervision: Supervision, child: Child): RestartDecision {
  const { surroundings, window, root } = supervision;
  const { backoff, id } = child.spec;
  const now = surroundings.clock.now();
  settleSeries(child, now);
  if (!addRestart(windowOf(child), now, id)) return { next: 'quarantine', gaveUp: false };
  const verdict = judge(supervision, child, now);
  if (verdict === 'storm' && root) {
    return {
      next: 'restart',
      delayMs: restartDelay(backoff, child.series, surroundings.random, roomInMs(window, now)),
    };
  }
  if (verdict !== 'fine') return root ? { next: 'quarantine', gaveUp: true } : { next: 'escalate' };
  return { next: 'restart', delayMs: restartDelay(backoff, child.series, surroundings.random) };
}

/** The wait of a child that is begun anew without a failure: it is counted in no window. */
export function renewalDelay({ surroundings: { clock, random } }: Supervision, child: Child): number {
  settleSeries(child, clock.now());
  return restartDelay(child.spec.backoff, child.series, random);
}

/**
 * Judges a restart by the limits of the supervisor. In a group strategy each restart is one of the whole group. Else a child passes them
 * alone (`loop`), or several that were restarted within the period before pass them together (`storm`). Those that failed once count for nothing: a host
 * that goes down takes all its children with it.
 */
function judge({ window, options }: Supervision, child: Child, now: number): 'fine' | 'loop' | 'storm' {
  const { id } = child.spec;
  if (options.strategy !== 'one_for_one') return addRestart(window, now, id) ? 'fine' : 'loop';
  const own = ownShareOf(child, options);
  const isRepeated = hasRestarted(own, now);
  if (!addRestart(own, now, id)) return 'loop';
  return !isRepeated || addRestart(window, now, id) ? 'fine' : 'storm';
}

function settleSeries(child: Child, now: number): void {
  if (now - child.startedAt >= child.spec.backoff.resetAfterMs) child.series = 0;
}

/** Tells whether a child is live or on its way back, as opposed to put aside or stopped for good. */
export function isUp(child: Child): boolean {
  return ['starting', 'running', 'restarting'].includes(child.state) || child.next === 'restarting';
}
