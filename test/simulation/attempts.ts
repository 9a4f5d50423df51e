import type { AttemptContext } from '../../src/calls/operation.ts';
import {
  AttemptError,
  type EffectOutcome,
  type FailureFacts,
  type FailureKind,
} from '../../src/policy/failures/failure.ts';
import { type CallRow, isShortened } from './callRow.ts';
import { meaningOf } from './circuitModel.ts';
import { calmPlan, randomPlan } from './plans.ts';
import type { SimulatedIntegration } from './simulatedIntegration.ts';
import { type Ending, Work, type WorkBooks } from './work.ts';
import type { World } from './world.ts';

interface Entry {
  /** Undefined for the integration's own harmless probe. */
  readonly row: CallRow | undefined;
  /** What it is called in the trace. */
  readonly label: string;
  /** The circuit's, when it started. */
  readonly generation: number;
}

/** The attempts of an integration as its other side knows them; tells the model of its circuit what they come to. */
export class Attempts implements WorkBooks {
  /** Work that has not ended, whatever became of its attempt. */
  readonly works = new Map<Work, Entry>();
  readonly #world: World;
  readonly #integration: SimulatedIntegration;

  constructor(world: World, integration: SimulatedIntegration) {
    this.#world = world;
    this.#integration = integration;
  }

  get inFlight(): number {
    return [...this.works.keys()].filter((work) => work.inFlight).length;
  }

  /** Whether the integration's own probe is in flight. */
  get probing(): boolean {
    return [...this.works].some(([work, { row }]) => work.inFlight && row === undefined);
  }

  /** Whether there may be no place for a further attempt. */
  get full(): boolean {
    return this.#occupied(2) >= this.#integration.policy.maxInFlight;
  }

  /** An attempt starts; what this returns or throws is what the operation does. */
  operate(row: CallRow | undefined, context: AttemptContext): unknown {
    const { chance, clock, trace, calm } = this.#world;
    const { model, mood, policy, name } = this.#integration;
    const plan = calm ? calmPlan() : randomPlan(chance, mood, policy.maxPauseMs);
    const work = new Work(plan, context, clock, this);
    const label = row?.label ?? `${name} probe`;
    const { when, ending, shape, onAbort } = plan;
    trace.note(
      `${label} attempt ${context.attempt}: ${when} ${ending.ok ? 'value' : ending.fault.kind} ${shape} abort:${onAbort}`,
    );
    const probing = model.state === 'half-open' || model.state === 'open';
    const refused = model.admit(clock.now());
    this.#judgeStart(label, row, context, refused, probing);
    this.works.set(work, { row, label, generation: model.generation });
    if (row !== undefined) {
      row.attempts++;
      row.work = work;
    }
    const mischief = !calm && chance.happens(0.03);
    // Who does not read the signal takes another way through the runtime.
    if (when !== 'at once' || mischief) work.watch();
    if (mischief) this.#world.mischief(this.#integration, row);
    return work.run();
  }

  ended(work: Work, ending: Ending): void {
    const { clock } = this.#world;
    const { model } = this.#integration;
    const entry = this.works.get(work);
    this.works.delete(work);
    if (work.writtenOff) model.reclaimed();
    if (entry === undefined || work.abortedAt !== undefined || work.context.signal.aborted) return;
    const { row, generation } = entry;
    if (row !== undefined) row.work = undefined;
    if (ending.ok) {
      model.alive(generation, clock.now());
      if (row !== undefined) row.answer = ending.value;
      return;
    }
    const { kind, outcome, hintMs, ignored, status } = ending.fault;
    if (row !== undefined) {
      row.last = { kind, outcome };
      row.retryAt = clock.now() + (hintMs ?? 0);
    }
    const isOurs = status === undefined && this.#isOurs(work, kind, outcome);
    const meaning = ignored === true || isOurs ? 'ignored' : meaningOf(kind);
    if (meaning === 'alive') model.alive(generation, clock.now());
    else if (meaning === 'failure') model.failed(generation, clock.now(), kind, hintMs);
    else model.ignored(generation);
    if (kind === 'rate_limit' && hintMs !== undefined) model.paused(clock.now() + hintMs);
  }

  aborted(work: Work, thrown: unknown): void {
    const { clock, trace } = this.#world;
    const { model } = this.#integration;
    const entry = this.works.get(work);
    if (entry === undefined) return;
    const { row, label, generation } = entry;
    const { kind, outcome, reason } = thrown instanceof AttemptError ? thrown.facts : cancelled;
    trace.note(`${label} attempt ${work.context.attempt} aborted: ${kind} ${reason ?? ''}`);
    if (row !== undefined) {
      row.work = undefined;
      row.last = { kind, outcome };
      this.#judgeTimeout(work, row, reason);
    }
    const isOurs = this.#isOurs(work, kind, outcome) || (row !== undefined && isShortened(row, kind, reason));
    const isBlamed = meaningOf(kind) === 'failure' && !isOurs;
    if (isBlamed) model.failed(generation, clock.now(), kind, undefined);
    else model.ignored(generation);
  }

  /** Whether a stall of the event loop may be what it failed of. */
  #isOurs({ startedAt }: Work, kind: FailureKind, outcome: EffectOutcome): boolean {
    const kinds: readonly FailureKind[] = ['timeout', 'transient', 'crash', 'watchdog', 'unknown'];
    return (
      kinds.includes(kind) && this.#world.judge.isInWake(startedAt, kind === 'transient' && outcome !== 'not_started')
    );
  }

  /** The place of work that would not end was given to others. */
  wroteOff(label: string): void {
    const { judge, clock } = this.#world;
    const { model, policy } = this.#integration;
    const found = [...this.works].find(
      ([work, { row }]) => !work.writtenOff && work.abortedAt !== undefined && (row?.label ?? 'probe') === label,
    );
    if (found === undefined) {
      judge.violate('M-9', `work of ${label} is written off that has ended or was not aborted`);
      return;
    }
    const [work] = found;
    const graceMs = clock.now() - (work.abortedAt ?? 0);
    judge.expect(graceMs >= policy.abortGraceMs, 'M-9', () => `work of ${label} is written off after ${graceMs} ms`);
    work.writtenOff = true;
    model.wroteOff();
  }

  #judgeStart(
    label: string,
    row: CallRow | undefined,
    { attempt }: AttemptContext,
    refused: string | undefined,
    probing: boolean,
  ): void {
    const { judge, clock } = this.#world;
    const { model, policy, stopped, hasProbe } = this.#integration;
    const expect = (claim: boolean, requirement: string, what: string): void => {
      judge.expect(claim, requirement, () => `${label} starts attempt ${attempt} ${what}`);
    };
    const rule = { closed: 'M-13', open: 'M-2', 'half-open': 'M-3', crashed: 'M-6' }[model.state];
    expect(refused === undefined, rule, `although ${refused}`);
    expect(!stopped, 'I-3', 'after the stop');
    if (row === undefined) {
      expect(probing, 'M-3', 'while there is nothing to probe');
      return;
    }
    expect(this.#occupied(0) < policy.maxInFlight, 'M-9', 'without a place');
    expect(row.outcome === undefined, 'I-1', 'after it was settled');
    expect(row.work === undefined, 'I-1', 'beside another');
    expect(attempt === row.attempts + 1, 'R-1', `as number ${row.attempts + 1}`);
    expect(row.attempts < row.maxAttempts, 'R-1', `of ${row.maxAttempts}`);
    expect(clock.now() >= row.retryAt, 'R-2', `before ${row.retryAt}`);
    expect(row.signal?.aborted !== true, 'R-8', 'after its caller aborted it');
    const lost = row.last?.outcome === 'unknown' && row.effect === 'mutating';
    expect(!lost, 'R-12', 'though it may have taken effect before');
    expect(!probing || !hasProbe || row.effect === 'readOnly', 'M-3', 'as a probe, though it may have effects');
  }

  #judgeTimeout(work: Work, row: CallRow, reason: string | undefined): void {
    const { judge, clock } = this.#world;
    const limits: Readonly<Record<string, number>> = {
      idle_timeout: work.lastSignAt + row.limits.idleMs + judge.stalledSince(work.lastSignAt),
      attempt_timeout: work.startedAt + row.limits.attemptMs + judge.stalledSince(work.startedAt),
      overall_timeout: row.dueAt,
    };
    const limit = limits[reason ?? ''] ?? 0;
    judge.expect(clock.now() >= limit, 'R-9', () => `${row.label} ends by ${reason} before its limit, at ${limit}`);
  }

  /** Attempts that hold a place: in flight, or told to end and not written off as far as anybody can know. */
  #occupied(toleratedMs: number): number {
    let count = 0;
    for (const work of this.works.keys()) {
      const { judge } = this.#world;
      const { abortedAt = Number.POSITIVE_INFINITY, writtenOff } = work;
      const writtenOffAt = abortedAt + this.#integration.policy.abortGraceMs + judge.stalledSince(abortedAt);
      if (!writtenOff && !judge.overdue(writtenOffAt, toleratedMs)) count++;
    }
    return count;
  }
}

/** A caller's own signal may have any reason. */
const cancelled: Pick<FailureFacts, 'kind' | 'outcome' | 'reason'> = { kind: 'cancelled', outcome: 'cancelled' };
