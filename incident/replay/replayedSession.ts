import type { DeadlineQueue } from '../../src/calls/face.ts';
import { type SessionRef, sessionMachine } from '../../src/machines/face.ts';
import { type Clock, notDone } from '../../src/policy/face.ts';
import type { KeptFacts } from '../../src/policy/facts/face.ts';
import { SupervisedSession, type ToolPort, type Turn } from '../../src/sessions/face.ts';
import type { RootSupervisor } from '../../src/supervisor/face.ts';
import { endOf, type PlannedCall, sameMs } from './plan.ts';
import type { ReplayedIntegration } from './replayedIntegration.ts';
import type { PlannedFiring, PlannedTurn, SessionPlan } from './sessionPlan.ts';

export interface SessionSurroundings {
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly facts: KeptFacts;
  readonly root: RootSupervisor;
  readonly integrations: ReadonlyMap<string, ReplayedIntegration>;
}

/** A session in the replay: the real mailbox, turns and watchdog; its handler makes the calls that were made, and ends or hangs as it did. */
export class ReplayedSession {
  readonly plan: SessionPlan;
  readonly #clock: Clock;
  readonly #session: SupervisedSession;
  readonly #integrations: SessionSurroundings['integrations'];

  constructor(plan: SessionPlan, { clock, deadlines, facts, root, integrations }: SessionSurroundings) {
    this.plan = plan;
    this.#clock = clock;
    this.#integrations = integrations;
    const tools = toolPortOf(integrations);
    this.#session = new SupervisedSession(
      { id: plan.id, clock, deadlines, facts, tools },
      { onMessage: ({ data }, turn) => this.#process(data as PlannedTurn, turn), watchdog: plan.watchdog },
    );
    root.startChild({
      id: `session:${plan.id}`,
      logic: sessionMachine,
      input: { session: plan.id, ...this.#session.limits },
      shutdown: this.#session.limits.releaseMs + 1000,
      onStart: (ref, incarnation) => this.#session.attach(ref as SessionRef, incarnation),
    });
  }

  begin(turn: PlannedTurn): void {
    // The record may begin in the middle of a session's life, and its turns are known by their numbers.
    if (!this.#session.busy && this.#session.waiting === 0) this.#session.numberAbove(turn.number - 1);
    void this.#session.send({ kind: turn.kind, data: turn });
  }

  /** An operator has the watchdog act before its time, or leaves a turn behind that was told to end. */
  fire({ rule, what }: PlannedFiring): void {
    const rules = this.#session.why().rules.filter((each) => each.rule === rule);
    const found = rules.find((each) => each.what === what) ?? rules[0];
    if (found !== undefined) this.#session.fire(found.id);
  }

  close(): void {
    this.#session.stop();
  }

  async #process(planned: PlannedTurn, turn: Turn): Promise<unknown> {
    const endings = new Map<number, Promise<unknown>>();
    for (const call of planned.calls) {
      // It came with the end of another one: it was made when that was over.
      const before = endings.get(call.arrivedAt);
      const result = this.#until(call.arrivedAt)
        .then(() => before)
        .then(() => this.#call(call, turn, planned.endedAt));
      const end = endOf(call);
      endings.set(end, Promise.all([endings.get(end), result]));
    }
    this.#touch(planned, turn);
    // A turn that was told to end may have ended then.
    const isTold = planned.stalledAt !== undefined;
    if (isTold) await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
    if (!Number.isFinite(planned.endedAt) || (isTold && planned.isLeft)) return new Promise(() => undefined);
    await this.#until(planned.endedAt);
    // Calls that had ended before it are waited for: both may have come within the same ms.
    await Promise.all([...endings].flatMap(([at, results]) => (at <= planned.endedAt ? [results] : [])));
    if (planned.ok) return undefined;
    throw new Error(planned.error ?? 'the turn failed');
  }

  #call(call: PlannedCall, turn: Turn, turnEndsAt: number): Promise<unknown> | undefined {
    const { overallMs, attemptMs } = call.limits;
    const usual = this.#integrations.get(call.integration)?.plan.policy.limits;
    // A call that declares itself long-running has one limit of its own in place of all others.
    const isLong = overallMs === attemptMs && attemptMs !== usual?.attemptMs;
    const controller = new AbortController();
    const { end } = call;
    const isEarlier = end !== undefined && end.at < turnEndsAt - sameMs;
    const isCallers = end?.failure.kind === 'cancelled' && (isEarlier || end.failure.reason === undefined);
    if (isCallers) this.#at(end.at, () => controller.abort(new Error(end.failure.message)));
    if (call.cameCancelled) controller.abort();
    if (turn.signal.aborted) return undefined;
    const { tool = '', label = '', scope } = call.about;
    return turn.tool(call.integration, [tool, label].find((each) => each !== '') ?? 'tool', call, {
      effect: call.about.effect,
      signal: controller.signal,
      // The call path has 1 ms more than the watchdog.
      ...(isLong && overallMs > 1 && Number.isFinite(overallMs) && { longRunningMs: overallMs - 1 }),
      ...(scope !== undefined && { scope, replace: call.replaces }),
    });
  }

  /** Signs of progress outside tool calls, as far as the turn would not have lasted so long without. */
  #touch({ startedAt, endedAt, stalledAt }: PlannedTurn, turn: Turn): void {
    const { turnMs } = this.plan.watchdog;
    const lastAt = stalledAt === undefined ? endedAt : stalledAt - turnMs;
    if (!Number.isFinite(lastAt)) return;
    const everyMs = Math.max(turnMs / 2, (lastAt - startedAt) / 1000);
    for (let at = startedAt + everyMs; at < lastAt; at += everyMs) this.#at(at, turn.touch);
    if (stalledAt !== undefined && lastAt > startedAt) this.#at(lastAt, turn.touch);
  }

  #until(at: number): Promise<void> {
    return new Promise((resolve) => this.#at(at, resolve));
  }

  #at(at: number, run: () => void): void {
    this.#clock.setTimeout(run, Math.max(0, at - this.#clock.now()));
  }
}

const noOrders = 'A replay takes no orders.';

function toolPortOf(integrations: ReadonlyMap<string, ReplayedIntegration>): ToolPort {
  return {
    call(integration, _tool, input, { signal, late, overallMs }, settled) {
      const target = integrations.get(integration);
      if (target === undefined) throw new RangeError(`No integration ${integration}`);
      const planned = input as PlannedCall;
      const limits = { overallMs: Math.min(planned.limits.overallMs, overallMs) };
      const call = target.start(planned, settled, { ...limits, signal, late, underWay: true });
      return {
        end: (facts) => target.path.end(call, facts),
        why: () => target.path.why(call),
        steps: () => [],
        fire: () => notDone(noOrders),
        stopRetrying: () => notDone(noOrders),
      };
    },
    longRunningMs: () => undefined,
    effect: (_integration, _tool, input) => (input as PlannedCall).about.effect,
    isRead: () => false,
    joins: () => false,
    keeps: () => false,
    keptWhy: () => [],
    restoreKept: () => undefined,
    repeatRule: () => undefined,
    ruleOf: () => undefined,
    canRecover: () => false,
    recover: () => ({ why: () => undefined }),
    why: () => undefined,
  };
}
