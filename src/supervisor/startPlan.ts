import type { Child, StartPlan, Supervision } from './supervision.ts';

/**
 * Plans the start of children, in order, `delayMs` from now; at the earliest on the next turn of the event loop, or a
 * child that fails at every start would never let the loop turn. Leaves their earlier plans.
 * @param waitingState - what those are meanwhile that are not live; the live ones become it once they are gone.
 */
export function planStart(
  supervision: Supervision,
  members: readonly Child[],
  delayMs: number,
  waitingState: 'restarting' | 'quarantined',
  start: (child: Child) => void,
): StartPlan {
  const { clock } = supervision.surroundings;
  const plan: StartPlan = {
    members,
    at: clock.now() + delayMs,
    run() {
      plan.timer = undefined;
      runPlan(plan, supervision, start);
    },
    waiting: members.length,
    timer: undefined,
    due: false,
  };
  for (const child of members) {
    leavePlan(supervision, child);
    child.plan = plan;
    becomes(child, waitingState);
  }
  if (delayMs > 0) plan.timer = clock.setTimeout(plan.run, delayMs);
  else clock.nextTurn(plan.run);
  return plan;
}

/** Has a plan that waits for its time run on the next turn of the event loop. */
export function hastenPlan({ surroundings: { clock } }: Supervision, plan: StartPlan): void {
  if (plan.timer === undefined) return;
  clock.clearTimeout(plan.timer);
  plan.timer = undefined;
  clock.nextTurn(plan.run);
}

/** Takes a child out of the plan it waits in; the timer goes with the last one, and nothing waits for a child that left. */
export function leavePlan(supervision: Supervision, child: Child): void {
  const { plan } = child;
  if (plan === undefined) return;
  child.plan = undefined;
  plan.waiting -= 1;
  if (plan.waiting > 0) {
    resumePlan(supervision, plan);
    return;
  }
  supervision.surroundings.clock.clearTimeout(plan.timer);
  plan.timer = undefined;
}

/** Says what a child is from now on, or, while it is still live, once it is gone. */
export function becomes(child: Child, state: 'stopped' | 'restarting' | 'quarantined'): void {
  child.next = state;
  if (child.ref === undefined) child.state = state;
}

/** Runs a plan whose time came while a member was on its way out, now that this one is gone. */
export function resumePlan({ surroundings }: Supervision, plan: StartPlan): void {
  if (plan.due) surroundings.clock.nextTurn(plan.run);
}

function runPlan(plan: StartPlan, supervision: Supervision, start: (child: Child) => void): void {
  const members = plan.members.filter((child) => child.plan === plan);
  plan.due = members.some((child) => child.ref !== undefined);
  if (plan.due) return;
  for (const child of members) {
    // A failed start further up the order plans the whole group anew; a hook of one may have stopped another.
    if (child.plan !== plan) continue;
    leavePlan(supervision, child);
    child.next = 'stopped';
    start(child);
  }
}
