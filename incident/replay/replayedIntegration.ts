import { createActor } from 'xstate';
import { type Call, CallPath, type CallSettings, type DeadlineQueue, SignalFanout } from '../../src/calls/face.ts';
import { integrationMachine } from '../../src/machines/face.ts';
import type { Clock, Random } from '../../src/policy/face.ts';
import type { Facts } from '../../src/policy/facts/face.ts';
import type { InputRow } from '../../src/policy/records/face.ts';
import type { Outcome } from '../../src/policy/failures/face.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';
import { playedRates } from './playedRates.ts';
import { ScriptedOperation } from './scriptedOperation.ts';

/** End of a call in the replay. */
export interface ReplayedEnd {
  readonly at: number;
  readonly outcome: Outcome<unknown>;
  readonly attempts: number;
}

/** Surroundings that all of a replay share. */
export interface ReplaySurroundings {
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly facts: Facts;
  readonly random: Random;
}

type Path = CallPath<PlannedCall, unknown>;

/** An integration in the replay: the real call path and machine, over an operation that does what was recorded. */
export class ReplayedIntegration {
  readonly plan: IntegrationPlan;
  readonly path: Path;
  readonly operation: ScriptedOperation;
  readonly ends = new Map<number, ReplayedEnd>();
  readonly calls = new Map<number, Call<PlannedCall, unknown>>();
  /** Attempts that its calls had made when it was halted. */
  attemptsAtHalt: ReadonlyMap<number, number> | undefined = undefined;
  readonly #clock: Clock;
  /** Functions that let go of a circuit which is held open. */
  readonly #holds = new Map<number, () => void>();
  #inquiries: ((alive: boolean) => void)[] = [];

  constructor(plan: IntegrationPlan, { clock, deadlines, facts, random }: ReplaySurroundings) {
    const draws = [...plan.draws];
    this.plan = plan;
    this.#clock = clock;
    this.operation = new ScriptedOperation(plan, clock);
    const { asks, probes } = plan.traits;
    this.path = new CallPath<PlannedCall, unknown>({
      name: plan.name,
      policy: plan.policy,
      operation: this.operation.operate,
      toolOf: ({ about }) => about.tool,
      probe: probes === true ? this.operation.probe : undefined,
      clock,
      random: () => draws.shift() ?? random(),
      facts,
      deadlines,
      signals: new SignalFanout(),
      rate: playedRates(plan, clock, deadlines),
      onSilence: asks === undefined ? undefined : () => new Promise((resolve) => this.#inquiries.push(resolve)),
      whenAlive: asks,
    });
    // Before the record there was a circuit that was closed.
    if (!plan.inputs.some(({ input }) => input === 'attached')) this.#attach({});
  }

  /** Takes what its calls have come to by now: what it does from now on is not looked at. */
  halt(): void {
    this.attemptsAtHalt = new Map([...this.calls].map(([number, { attempts }]) => [number, attempts]));
  }

  /** Makes a call as it was made. @param more - what its session adds. */
  start(
    call: PlannedCall,
    settled: (outcome: Outcome<unknown>, attempts: number) => void = () => undefined,
    more: Partial<CallSettings<PlannedCall, unknown>> = {},
  ): Call<PlannedCall, unknown> {
    let attempts = (): number => 0;
    const row = this.path.start(call, { ...settingsOf(call, () => attempts()), ...more }, (outcome) => {
      if (this.attemptsAtHalt === undefined)
        this.ends.set(call.number, { at: this.#clock.now(), outcome, attempts: attempts() });
      settled(outcome, attempts());
    });
    attempts = () => row.attempts;
    // A call that was refused at once has been told of before its row was there.
    const early = this.ends.get(call.number);
    if (early !== undefined) this.ends.set(call.number, { ...early, attempts: row.attempts });
    this.calls.set(call.number, row);
    return row;
  }

  /** Ends a call for a reason of its caller's. */
  end({ number, end }: PlannedCall): void {
    const call = this.calls.get(number);
    if (call !== undefined && end !== undefined) this.path.end(call, end.failure);
  }

  /** Repeats what befell it from outside. */
  befall(row: InputRow): void {
    const now = this.#clock.now();
    switch (row.input) {
      case 'attached':
        this.#attach(row);
        break;
      case 'crashed':
        this.path.crashed(row.failure, row.quietly);
        break;
      case 'restarted':
        this.path.restarted();
        break;
      case 'reset':
        this.path.reset();
        break;
      case 'restart':
        this.path.restart();
        break;
      case 'stopped':
        this.path.stop();
        break;
      case 'inquired':
        for (const answer of this.#inquiries.splice(0)) answer(row.alive);
        break;
      case 'isolated':
        this.#holds.set(row.hold, row.tool === undefined ? this.path.isolate() : this.path.isolateTool(row.tool));
        break;
      case 'released':
        this.#holds.get(row.hold)?.();
        break;
      case 'probed':
        this.path.probe();
        break;
      case 'fired':
        this.#fire(row.call, row.rule);
        break;
      case 'retriesStopped': {
        const call = this.calls.get(row.call);
        if (call !== undefined) this.path.stopRetrying(call, nobody);
        break;
      }
      case 'toolReset':
        this.path.resetTool(row.tool);
        break;
      case 'adopted': {
        const { closed, openForMs, openings = 1, pausedForMs } = row;
        const open = openForMs === undefined ? undefined : { openUntil: now + openForMs, openings };
        this.path.adopt({
          circuit: closed === true ? 'closed' : open,
          pausedUntil: pausedForMs === undefined ? undefined : now + pausedForMs,
        });
      }
    }
  }

  /** Does nothing where another rule comes next by now: that is a difference, and shows as one. */
  #fire(number: number, rule: string): void {
    const call = this.calls.get(number);
    const next = call && this.path.why(call)?.next;
    if (call !== undefined && next?.rule === rule) this.path.fire(call, next.id, nobody);
  }

  #attach({
    down = false,
    openForMs,
    openings = 1,
    pausedForMs,
  }: Partial<Extract<InputRow, { input: 'attached' }>>): void {
    const { name, policy } = this.plan;
    const ref = createActor(integrationMachine, { input: { name, breaker: policy.breaker } });
    const now = this.#clock.now();
    this.path.attach(ref, {
      down,
      open: openForMs === undefined ? undefined : { openUntil: now + openForMs, openings },
      pausedUntil: pausedForMs === undefined ? undefined : now + pausedForMs,
    });
    ref.start();
  }
}

function nobody(): void {
  // Nobody is told of an order in a replay.
}

function settingsOf(call: PlannedCall, attemptsMade: () => number): CallSettings<PlannedCall, unknown> {
  const { about, limits, ownLimits, retry, end } = call;
  const { effect, label, session, scope, isStream, hasFallback } = about;
  return {
    ...limits,
    ownLimits,
    retry,
    effect,
    label,
    session,
    scope,
    replace: call.replaces,
    signal: call.cameCancelled ? AbortSignal.abort() : undefined,
    fallback: hasFallback === true ? () => fallBack(end?.end === 'fell_back') : undefined,
    stream: isStream === true ? streamOf(call, attemptsMade) : undefined,
  };
}

/** Answers in place of its fallback: only whether it did is on record, not what. */
function fallBack(isAnswered: boolean): string {
  if (isAnswered) return 'answered';
  throw new Error('the fallback failed');
}

/** A stream is played as one answer at its end; what might have followed a failure is on record. */
function streamOf(
  { attempts }: PlannedCall,
  attemptsMade: () => number,
): NonNullable<CallSettings<PlannedCall, unknown>['stream']> {
  return {
    inputOf: (input) => input,
    read: (answer) => answer as Promise<unknown>,
    get continuation() {
      return attempts.get(attemptsMade())?.continuation ?? 'any';
    },
  };
}
