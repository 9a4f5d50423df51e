import type { AnyActorRef } from 'xstate';
import { type Crash, type Death, type Findings, type Outlook, crashReport, examine, tellCrash } from './crashReport.ts';
import { formatDuration } from '../policy/text/duration.ts';
import { messageOf } from '../policy/failures/thrown.ts';
import { type Exit, failedExit } from './exit.ts';
import { startIncarnation } from './incarnation.ts';
import { discardHeld } from './mailbox.ts';
import { forget } from './restartWindow.ts';
import { stopChildren, stopSupervisor } from './shutdown.ts';
import { becomes, leavePlan, planStart, resumePlan } from './startPlan.ts';
import { type Child, type StartPlan, type Supervision, guard, isActive, removeChild, tell } from './supervision.ts';
import { type RestartDecision, isUp, decideRestart, renewalDelay } from './restartDecision.ts';

/** Result of a first start. */
interface Started {
  /** Undefined when there was nothing to create. */
  readonly ref: AnyActorRef | undefined;
  /** Failure, when that was during its start and nobody had asked it to end. */
  readonly failure: Exit | undefined;
}

/** Starts a child for the first time; one that fails at once is not restarted. Never throws. */
export function startFirst(supervision: Supervision, child: Child): Started {
  let failure: Exit | undefined;
  const ref = startIncarnation(supervision, child, (exit, actor) => {
    const inStart = child.state === 'starting';
    if (inStart && exit.reason === 'failure') {
      failure = exit;
      becomes(child, 'stopped');
    }
    childEnded(supervision, child, { exit, ref: actor, inStart });
  });
  return { ref, failure };
}

/** Starts a child again; a start that fails counts as one more crash. Never throws. */
function startAgain(supervision: Supervision, child: Child): void {
  startIncarnation(supervision, child, (exit, ref) => {
    childEnded(supervision, child, { exit, ref, inStart: child.state === 'starting' });
  });
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
  stopFor(supervision, planRestart(supervision, released, 0), released);
}

function childEnded(supervision: Supervision, child: Child, death: Death): void {
  const { surroundings } = supervision;
  const { spec, incarnation, whenGone, watchers } = child;
  const { exit } = death;
  surroundings.clock.clearTimeout(child.shutdownTimer);
  child.shutdownTimer = undefined;
  child.whenGone = undefined;
  child.watchers = undefined;
  child.lastExit = exit;
  if (exit.reason === 'failure') child.lastFailure = exit;
  afterEnd(supervision, child, death);
  for (const watcher of watchers ?? []) guard(surroundings, 'monitor', () => watcher(exit, incarnation));
  guard(surroundings, 'onExit', () => spec.onExit?.(exit, incarnation));
  for (const resolve of whenGone ?? []) resolve();
}

/**
 * Decides what comes after an incarnation: nothing, the start it already waits for, or a restart. A child that ends normally while it starts declines to run;
 * it would do so again at once, so it is left at that, whatever its restart type.
 */
function afterEnd(supervision: Supervision, child: Child, death: Death): void {
  const findings = examine(supervision, child, death);
  const { plan } = child;
  const decided = child.state === 'stopping' || child.state === 'stopped' || child.next !== 'stopped';
  if (decided || plan !== undefined || !isActive(supervision)) {
    rest(supervision, child, death, findings);
    if (plan !== undefined) resumePlan(supervision, plan);
  } else if (death.exit.renews === true && comesBack(child)) {
    renew(supervision, child);
  } else if (wantsRestart(child, death.exit) && !(death.inStart && death.exit.reason === 'normal')) {
    comeBack(supervision, child, findings);
  } else {
    rest(supervision, child, death, findings);
    shutDownIfSignificant(supervision, child);
  }
}

const nextOf = { stopped: 'stop', restarting: 'restart', quarantined: 'quarantine' } as const;

/** Nothing more than what the child waits for already. */
function rest(supervision: Supervision, child: Child, death: Death, findings: Findings | undefined): void {
  const { surroundings } = supervision;
  const { plan, spec, next: state } = child;
  const waits = plan !== undefined && { nextRestartInMs: Math.max(0, plan.at - surroundings.clock.now()) };
  const crash = crashReport(findings, { next: nextOf[state], ...waits });
  child.state = state;
  if (state === 'stopped' && spec.restart === 'temporary') removeChild(supervision, child);
  tellCrash(supervision, crash);
  if (state !== 'restarting') discardHeld(supervision, child, state);
  // A child that failed in its start was never told as started.
  if (!death.inStart || death.exit.reason !== 'failure') {
    tell(surroundings, { type: 'child.stopped', child: spec.id, reason: death.exit.reason });
  }
}

function wantsRestart({ spec }: Child, exit: Exit): boolean {
  return spec.restart === 'permanent' || (spec.restart === 'transient' && exit.reason === 'failure');
}

/** The table is changed first, then the listeners are told: a listener may stop or restart the same child. */
function comeBack(supervision: Supervision, child: Child, findings: Findings | undefined): void {
  const decision = decideRestart(supervision, child);
  const crash = crashReport(findings, outlook(child, decision));
  switch (decision.next) {
    case 'restart':
      return restart(supervision, child, decision, crash);
    case 'quarantine':
      return quarantine(supervision, child, () => {
        tellCrash(supervision, crash);
        if (decision.gaveUp) tellGaveUp(supervision, child);
      });
    case 'escalate':
      return escalate(supervision, child, crash);
  }
}

function outlook({ spec }: Child, decision: RestartDecision): Outlook {
  const { next } = decision;
  if (decision.next === 'restart') return { next, nextRestartInMs: decision.delayMs };
  const released = next === 'quarantine' && spec.quarantineMs !== Number.POSITIVE_INFINITY;
  return released ? { next, nextRestartInMs: spec.quarantineMs } : { next };
}

function tellGaveUp({ name, window, surroundings }: Supervision, culprit: Child): void {
  const { intensity: restarts, periodMs } = window;
  tell(surroundings, { type: 'supervisor.gave_up', supervisor: name, child: culprit.spec.id, restarts, periodMs });
}

function restart(
  supervision: Supervision,
  child: Child,
  { delayMs }: Extract<RestartDecision, { next: 'restart' }>,
  crash: Crash | undefined,
): void {
  child.series += 1;
  child.restarts += 1;
  supervision.restarts += 1;
  const affected = affectedBy(supervision, child);
  const restarted = affected.filter((other) => other === child || (comesBack(other) && isUp(other)));
  const plan = planRestart(supervision, restarted, delayMs);
  const { restarts } = child;
  tellCrash(supervision, crash);
  if (child.plan === plan) {
    tell(supervision.surroundings, { type: 'child.restarting', child: child.spec.id, restarts, delayMs });
  }
  stopFor(supervision, plan, affected);
}

/** Begins a child anew that ended for that: the others of its group, its windows and its count of restarts have no part in it. */
function renew(supervision: Supervision, child: Child): void {
  const delayMs = renewalDelay(supervision, child);
  child.series += 1;
  planRestart(supervision, [child], delayMs);
}

function planRestart(supervision: Supervision, members: readonly Child[], delayMs: number): StartPlan {
  return planStart(supervision, members, delayMs, 'restarting', (member) => startAgain(supervision, member));
}

/** Stops what is live of those a restart affects, last first, while its delay runs. */
function stopFor(supervision: Supervision, plan: StartPlan, affected: readonly Child[]): void {
  const live = affected.filter((other) => other.ref !== undefined);
  if (live.length === 0) return;
  void stopChildren(supervision, live, (other) => other.plan === plan || !comesBack(other));
}

/** A supervisor that used up its window ends as failed, so that its parent decides. */
function escalate(supervision: Supervision, child: Child, crash: Crash | undefined): void {
  const { name, window } = supervision;
  const limit = `${window.intensity} restarts within ${formatDuration(window.periodMs)}`;
  const error = new Error(`Supervisor \`${name}\` gave up after ${limit}; last child: \`${child.spec.id}\``, {
    cause: child.lastFailure?.error,
  });
  becomes(child, 'stopped');
  tellCrash(supervision, crash);
  tellGaveUp(supervision, child);
  void stopSupervisor(supervision, failedExit(error));
}

/**
 * Puts a child into quarantine, with those it would have been restarted with, until it is released by hand or by time.
 * @param announce - tells why, before the quarantine itself is told.
 */
function quarantine(supervision: Supervision, child: Child, announce: () => void): void {
  const { surroundings, window } = supervision;
  const { id, quarantineMs } = child.spec;
  const affected = affectedBy(supervision, child);
  const group = affected.filter((other) => other === child || (comesBack(other) && isUp(other)));
  const { restarts, lastFailure } = child;
  for (const other of group) {
    beginSeries(other);
    leavePlan(supervision, other);
    becomes(other, 'quarantined');
  }
  forget(window, id);
  if (quarantineMs !== Number.POSITIVE_INFINITY) {
    planStart(supervision, group, quarantineMs, 'quarantined', (member) => startAgain(supervision, member));
  }
  announce();
  if (child.next === 'quarantined') {
    const error = lastFailure === undefined ? 'it ended again and again' : messageOf(lastFailure.error);
    const ends = quarantineMs !== Number.POSITIVE_INFINITY && { nextRestartInMs: quarantineMs };
    tell(surroundings, { type: 'child.quarantined', child: id, restarts, error, ...ends });
  }
  for (const other of group) discardHeld(supervision, other, 'quarantined');
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

function beginSeries(child: Child): void {
  child.series = 0;
  child.window = undefined;
  child.ownShare = undefined;
}

function shutDownIfSignificant(supervision: Supervision, child: Child): void {
  const { autoShutdown } = supervision.options;
  if (!child.spec.significant || autoShutdown === 'never') return;
  const left = [...supervision.children.values()].some((other) => other.spec.significant && other.state !== 'stopped');
  if (autoShutdown === 'any_significant' || !left) void stopSupervisor(supervision);
}
