import { type Exit, failedExit, messageOf, stackOf } from './exit.ts';
import { type Started, startIncarnation } from './incarnation.ts';
import { restartDelay } from './restartBackoff.ts';
import { addRestart, forget, heaviest } from './restartWindow.ts';
import { stopChildren, stopSupervisor } from './shutdown.ts';
import { becomes, leavePlan, planStart, resumePlan } from './startPlan.ts';
import { type Child, type Supervision, guard, isActive, removeChild, tell, windowOf } from './supervision.ts';

/**
 * Starts a child for the first time. Never throws.
 * @returns its actor, and the failure when it failed at once; it is not restarted then.
 */
export function startFirst(supervision: Supervision, child: Child): Started {
  const started = startIncarnation(supervision, child, (exit) => {
    childEnded(supervision, child, exit);
  });
  const { exit } = started;
  if (exit === undefined) return started;
  child.state = 'stopped';
  if (exit.reason === 'failure') return started;
  afterEnd(supervision, child, exit);
  return { ref: started.ref, exit: undefined };
}

/** Starts a child again; a start that fails counts as one more crash. Never throws. */
function startAgain(supervision: Supervision, child: Child): void {
  const { exit } = startIncarnation(supervision, child, (over) => {
    childEnded(supervision, child, over);
  });
  if (exit !== undefined) afterEnd(supervision, child, exit);
}

/**
 * Restarts a child by hand: a live one is stopped in order first, a quarantined one is released, and in a group
 * strategy those that went to quarantine with it as well. Its series and its window begin anew. A starting one is left alone.
 */
export function restartByHand(supervision: Supervision, child: Child): void {
  if (child.state === 'starting') return;
  const released =
    child.state === 'quarantined'
      ? affectedBy(supervision, child).filter((other) => other.state === 'quarantined')
      : [child];
  for (const other of released) beginSeries(other);
  restartTogether(supervision, released, released, 0);
}

function childEnded(supervision: Supervision, child: Child, exit: Exit): void {
  const { surroundings } = supervision;
  const { spec, incarnation, whenGone, watchers } = child;
  surroundings.clock.clearTimeout(child.shutdownTimer);
  child.shutdownTimer = undefined;
  child.whenGone = undefined;
  child.watchers = undefined;
  child.lastExit = exit;
  if (exit.reason === 'failure') {
    child.lastFailure = exit;
    const error = messageOf(exit.error);
    tell(surroundings, { type: 'child.crashed', child: spec.id, incarnation, error, stack: stackOf(exit.error) });
  }
  if (child.state !== 'starting') afterEnd(supervision, child, exit);
  for (const watcher of watchers ?? []) guard(surroundings, 'monitor', () => watcher(exit, incarnation));
  guard(surroundings, 'onExit', () => spec.onExit?.(exit, incarnation));
  for (const resolve of whenGone ?? []) resolve();
}

/** What comes after an incarnation: nothing, the start it already waits for, or a restart. */
function afterEnd(supervision: Supervision, child: Child, exit: Exit): void {
  const { plan } = child;
  if (child.state === 'stopping' || !isActive(supervision) || plan !== undefined || child.next !== 'stopped') {
    rest(supervision, child, exit, child.next);
    if (plan !== undefined) resumePlan(supervision, plan, (member) => startAgain(supervision, member));
  } else if (wantsRestart(child, exit)) {
    restartOrGiveUp(supervision, child);
  } else {
    rest(supervision, child, exit, 'stopped');
    shutDownIfSignificant(supervision, child);
  }
}

function rest(supervision: Supervision, child: Child, exit: Exit, state: Child['next']): void {
  child.state = state;
  tell(supervision.surroundings, { type: 'child.stopped', child: child.spec.id, reason: exit.reason });
  if (state === 'stopped' && child.spec.restart === 'temporary') removeChild(supervision, child);
}

function wantsRestart({ spec }: Child, exit: Exit): boolean {
  return spec.restart === 'permanent' || (spec.restart === 'transient' && exit.reason === 'failure');
}

function restartOrGiveUp(supervision: Supervision, child: Child): void {
  const { surroundings, window } = supervision;
  const { spec } = child;
  const now = surroundings.clock.now();
  if (now - child.startedAt >= spec.backoff.resetAfterMs) child.series = 0;
  if (!addRestart(windowOf(child), now, spec.id)) {
    quarantine(supervision, child);
    return;
  }
  if (!addRestart(window, now, spec.id) && !giveUp(supervision, child, now)) return;
  const delayMs = restartDelay(spec.backoff, child.series, surroundings.random);
  child.series += 1;
  child.restarts += 1;
  supervision.restarts += 1;
  const affected = affectedBy(supervision, child);
  const restarted = affected.filter((other) => other === child || (comesBack(other) && isUp(other)));
  tell(surroundings, { type: 'child.restarting', child: spec.id, restarts: child.restarts, delayMs });
  restartTogether(supervision, restarted, affected, delayMs);
}

/** Stops what of `affected` is live, last first, while the delay runs, then starts `restarted` in order. */
function restartTogether(
  supervision: Supervision,
  restarted: readonly Child[],
  affected: readonly Child[],
  delayMs: number,
): void {
  const plan = planStart(supervision, restarted, delayMs, 'restarting', (member) => startAgain(supervision, member));
  const live = affected.filter((other) => other.ref !== undefined);
  if (live.length === 0) return;
  void stopChildren(supervision, live, (other) => other.plan === plan || !comesBack(other));
}

/**
 * A supervisor that used up its window ends as failed, so that its parent decides. A root has none: the child with most
 * restarts (in a group strategy the group) goes to quarantine and the others go on.
 * @returns whether `child` is restarted all the same.
 */
function giveUp(supervision: Supervision, child: Child, now: number): boolean {
  const { name, window, surroundings, root, options } = supervision;
  const { intensity: restarts, periodMs } = window;
  const { id } = child.spec;
  const heavy = root && options.strategy === 'one_for_one' ? heaviest(window, now, id) : id;
  const culprit = supervision.children.get(heavy);
  if (culprit !== child) forget(window, heavy);
  if (culprit === undefined || (culprit !== child && !isUp(culprit))) {
    return addRestart(window, now, id) || giveUp(supervision, child, now);
  }
  tell(surroundings, { type: 'supervisor.gave_up', supervisor: name, child: heavy, restarts, periodMs });
  if (!root) {
    escalate(supervision, child);
    return false;
  }
  quarantine(supervision, culprit);
  return culprit !== child && child.next === 'stopped' && addRestart(window, now, id);
}

function escalate(supervision: Supervision, child: Child): void {
  const { name, window } = supervision;
  const limit = `${window.intensity} restarts within ${window.periodMs} ms`;
  const error = new Error(`Supervisor \`${name}\` gave up after ${limit}; last child: \`${child.spec.id}\``, {
    cause: child.lastFailure?.error,
  });
  becomes(child, 'stopped');
  void stopSupervisor(supervision, failedExit(error));
}

/** Puts a child aside, with those it would have been restarted with, until it is released by hand or by time. */
function quarantine(supervision: Supervision, child: Child): void {
  const { surroundings, window } = supervision;
  const { id, quarantineMs } = child.spec;
  const affected = affectedBy(supervision, child);
  const aside = affected.filter((other) => other === child || (comesBack(other) && isUp(other)));
  for (const other of aside) {
    beginSeries(other);
    leavePlan(supervision, other);
    becomes(other, 'quarantined');
  }
  forget(window, id);
  const error = child.lastFailure === undefined ? 'it ended again and again' : messageOf(child.lastFailure.error);
  tell(surroundings, { type: 'child.quarantined', child: id, restarts: child.restarts, error });
  if (quarantineMs !== Number.POSITIVE_INFINITY) {
    planStart(supervision, aside, quarantineMs, 'quarantined', (member) => startAgain(supervision, member));
  }
  const live = affected.filter((other) => other.ref !== undefined);
  void stopChildren(supervision, live, (other) => other.next === 'quarantined' || !comesBack(other));
}

function affectedBy({ options, children }: Supervision, child: Child): Child[] {
  if (options.strategy === 'one_for_one') return [child];
  const all = [...children.values()];
  return options.strategy === 'one_for_all' ? all : all.slice(all.indexOf(child));
}

function comesBack({ spec }: Child): boolean {
  return spec.restart !== 'temporary';
}

/** Whether a child is live or on its way back, as opposed to put aside or stopped for good. */
function isUp(child: Child): boolean {
  return ['starting', 'running', 'restarting'].includes(child.state) || child.next === 'restarting';
}

function beginSeries(child: Child): void {
  child.series = 0;
  child.window = undefined;
}

function shutDownIfSignificant(supervision: Supervision, child: Child): void {
  const { autoShutdown } = supervision.options;
  if (!child.spec.significant || autoShutdown === 'never') return;
  const left = [...supervision.children.values()].some((other) => other.spec.significant && other.state !== 'stopped');
  if (autoShutdown === 'any_significant' || !left) void stopSupervisor(supervision);
}
