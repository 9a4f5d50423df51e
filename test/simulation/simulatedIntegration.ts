import type { AttemptContext, CallSettings } from '../../src/calls/call.ts';
import type { CallPath } from '../../src/calls/callPath.ts';
import { type BreakerHandle, Integration } from '../../src/calls/integration.ts';
import { AttemptError, type Failure, type Outcome } from '../../src/policy/failure.ts';
import type { IntegrationPolicy } from '../../src/policy/policy.ts';
import { resolvePolicy } from '../../src/policy/presets.ts';
import { superviseIntegration } from '../../src/superviseIntegration.ts';
import { type CallRow, callRow, isWaiting, wordOf } from './callRow.ts';
import { CircuitModel, meaningOf } from './circuitModel.ts';
import { type Mood, moods, randomPlan } from './plans.ts';
import { randomEffect, randomLimits, randomPolicy } from './policies.ts';
import { type Ending, Work, type WorkBooks } from './work.ts';
import type { World } from './world.ts';

/** What an operation is called with: the row of its call. */
export interface Request {
  readonly row: CallRow;
}

/** An integration of the world with the books of its other side: what was asked of it, and what it did. */
export class SimulatedIntegration implements WorkBooks {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly model: CircuitModel;
  readonly path: CallPath<Request, unknown>;
  readonly integration: Integration<Request, unknown>;
  readonly hasProbe: boolean;
  readonly rows = new Map<string, CallRow>();
  /** Calls that failed since the last check, whatever their fallback makes of it. */
  readonly failed: { readonly row: CallRow; readonly failure: Failure }[] = [];
  /** Work that has not ended, whatever became of its attempt. */
  readonly works = new Set<Work>();
  mood: Mood = 'well';
  stopped = false;
  readonly #world: World;
  readonly #books = new Map<Work, { readonly row: CallRow | undefined; readonly generation: number }>();
  readonly #releases: (() => void)[] = [];
  #epoch = 0;
  #lastCall = 0;

  constructor(world: World, name: string) {
    const { chance } = world;
    this.#world = world;
    this.name = name;
    this.policy = resolvePolicy(name, randomPolicy(chance));
    this.model = new CircuitModel(this.policy);
    this.model.down = chance.happens(0.1);
    this.hasProbe = chance.happens(0.3);
    const restartInMs = chance.happens(0.5) ? chance.span(1, 5000) : undefined;
    this.path = superviseIntegration<Request, unknown>(world.runtime, {
      name,
      policy: this.policy,
      operation: ({ row }, context) => this.#operate(row, context),
      // The context of a harmless probe is a whole one, though its type says less.
      probe: this.hasProbe ? (context) => this.#operate(undefined, context as AttemptContext) : undefined,
      restartInMs: () => restartInMs,
      startsDown: () => this.model.down,
    });
    this.integration = new Integration(this.path);
  }

  get breaker(): BreakerHandle {
    return this.integration.breaker;
  }

  /** Makes a call with random options, not through a session. */
  call(signal: AbortSignal | undefined): void {
    const { chance, clock, trace } = this.#world;
    const limits = chance.happens(0.5) ? this.policy.limits : randomLimits(chance);
    const maxAttempts = chance.happens(0.7) ? this.policy.retry.maxAttempts : chance.integer(1, 5);
    const row = this.accept({
      label: `${this.name}.${++this.#lastCall}`,
      limits,
      dueAt: clock.now() + limits.overallMs,
      maxAttempts,
      effect: randomEffect(chance),
      signal,
      ofSession: false,
    });
    const settings: CallSettings<Request, unknown> = {
      ...limits,
      retry: { ...this.policy.retry, maxAttempts },
      effect: row.effect,
      label: row.label,
      session: undefined,
      signal,
      fallback: chance.happens(0.2) ? (_, failure, { signal }) => this.#fallBack(row, failure, signal) : undefined,
    };
    trace.note(`call ${row.label} within ${limits.overallMs}`);
    this.path.start({ row }, settings, (outcome) => this.settle(row, outcome));
  }

  accept(given: Omit<Parameters<typeof callRow>[0], 'startedAt'>): CallRow {
    const row = callRow({ ...given, startedAt: this.#world.clock.now() });
    this.rows.set(row.label, row);
    return row;
  }

  /** The caller is told the outcome. */
  settle(row: CallRow, outcome: Outcome<unknown>): void {
    const { judge, trace } = this.#world;
    trace.note(`${row.label} settles: ${wordOf(outcome)}`);
    row.settledTimes++;
    judge.expect(row.settledTimes === 1, 'I-1', () => `${row.label} settles ${row.settledTimes} times`);
    judge.expect(!judge.overdue(row.dueAt), 'I-1', () => `${row.label} settles late, it was due at ${row.dueAt}`);
    if (row.settledTimes > 1) return;
    row.outcome = outcome;
    if (outcome.ok) {
      const value = row.fallback === undefined ? row.answer : row.fallback.value;
      judge.expect(outcome.value === value, 'I-1', () => `${row.label} gets a value that is not its answer`);
    } else if (row.fallback === undefined) this.#fails(row, outcome.failure);
  }

  #fails(row: CallRow, failure: Failure): void {
    this.failed.push({ row, failure });
    if (failure.kind !== 'too_many_requests') return;
    const waiting = [...this.rows.values()].filter((other) => other !== row && isWaiting(other)).length;
    const full = this.full || (this.hasProbe && waiting >= this.policy.maxInFlight);
    this.#world.judge.expect(full, 'M-9', () => `${row.label} is refused for want of a place, while there is one`);
  }

  stop(): void {
    this.stopped = true;
    this.path.stop();
  }

  /** The circuit was told to be half-open: from here on it may be probed. */
  halfOpened(): void {
    const refused = this.model.halfOpen(this.#world.clock.now());
    this.#world.judge.expect(refused === undefined, 'M-2', () => `${this.name} is half-open although ${refused}`);
  }

  crash(): void {
    this.#world.trace.note(`${this.name}: what is behind it crashes`);
    if (!this.#world.stopped) this.model.lost('down');
    this.path.crashed({ kind: 'crash', reason: 'connection_lost', message: 'it is gone', outcome: 'unknown' });
  }

  restart(): void {
    if (!this.model.down || this.#world.stopped) return;
    this.#world.trace.note(`${this.name}: what is behind it is back`);
    this.model.restarted();
    this.path.restarted();
  }

  isolate(): void {
    if (this.#world.stopped) return;
    this.#world.trace.note(`${this.name}: isolated`);
    this.model.isolate();
    const release = this.breaker.isolate();
    const epoch = this.#epoch;
    let held = true;
    this.#releases.push(() => {
      this.#world.trace.note(`${this.name}: released`);
      if (held && epoch === this.#epoch && !this.#world.stopped) this.model.release();
      held = false;
      release();
    });
  }

  /** Releases an isolation, maybe one that was released before. */
  release(): void {
    if (this.#releases.length > 0) this.#world.chance.pick(this.#releases)();
  }

  reset(): void {
    if (this.#world.stopped) return;
    this.#world.trace.note(`${this.name}: reset`);
    this.#epoch++;
    this.model.reset();
    this.breaker.reset();
  }

  changeMood(): void {
    this.mood = this.#world.chance.pick(moods);
    this.#world.trace.note(`${this.name}: is ${this.mood}`);
  }

  /** A place was taken back from work that would not end. */
  wroteOff(label: string): void {
    const { judge, clock } = this.#world;
    const work = [...this.works].find(
      (each) => !each.writtenOff && each.abortedAt !== undefined && (this.#rowOf(each)?.label ?? 'probe') === label,
    );
    if (work?.abortedAt === undefined) {
      judge.violate('M-9', `work of ${label} is written off that has ended or was not aborted`);
      return;
    }
    const graceMs = clock.now() - work.abortedAt;
    judge.expect(
      graceMs >= this.policy.abortGraceMs,
      'M-9',
      () => `work of ${label} is written off after ${graceMs} ms`,
    );
    work.writtenOff = true;
    this.model.wroteOff();
  }

  /** Attempts that hold a place: in flight, or told to end and not written off, whichever the runtime may believe. */
  #occupied(toleratedMs: number): number {
    let count = 0;
    for (const work of this.works) {
      const writtenOffAt = (work.abortedAt ?? Number.POSITIVE_INFINITY) + this.policy.abortGraceMs;
      if (!work.writtenOff && !this.#world.judge.overdue(writtenOffAt, toleratedMs)) count++;
    }
    return count;
  }

  get full(): boolean {
    return this.#occupied(2) >= this.policy.maxInFlight;
  }

  get attemptsInFlight(): number {
    let count = 0;
    for (const work of this.works) if (work.inFlight) count++;
    return count;
  }

  isProbing(): boolean {
    return [...this.works].some((work) => work.inFlight && this.#rowOf(work) === undefined);
  }

  /** An attempt starts; what it returns or throws is the operation's. */
  #operate(row: CallRow | undefined, context: AttemptContext): unknown {
    const { chance, clock, trace } = this.#world;
    const plan = randomPlan(chance, this.mood, this.policy.maxPauseMs);
    const work = new Work(plan, context, clock, this);
    const probing = this.model.state === 'half-open' || this.model.state === 'open';
    const refused = this.model.admit(clock.now());
    trace.note(
      `${row?.label ?? `${this.name} probe`} attempt ${context.attempt}: ${plan.when} ${plan.ending.ok ? 'value' : plan.ending.fault.kind} ${plan.shape} abort:${plan.onAbort}`,
    );
    this.#judgeStart(row, context, refused, probing);
    this.works.add(work);
    this.#books.set(work, { row, generation: this.model.generation });
    if (row !== undefined) {
      row.attempts++;
      row.work = work;
    }
    const mischief = chance.happens(0.03);
    if (plan.when !== 'at once' || mischief) work.watch();
    if (mischief) this.#world.mischief(this, row);
    return work.run();
  }

  #judgeStart(row: CallRow | undefined, { attempt }: AttemptContext, refused: string | undefined, probing: boolean) {
    const { judge, clock } = this.#world;
    const now = clock.now();
    const label = row?.label ?? `${this.name}'s own probe`;
    const expect = (claim: boolean, requirement: string, what: string): void => {
      judge.expect(claim, requirement, () => `${label} starts attempt ${attempt} ${what}`);
    };
    const rule = { closed: 'M-13', open: 'M-2', 'half-open': 'M-3', crashed: 'M-6' }[this.model.state];
    expect(refused === undefined, rule, `although ${refused}`);
    expect(!this.stopped, 'I-3', 'after the stop');
    expect(row === undefined || this.#occupied(0) < this.policy.maxInFlight, 'M-9', 'without a place');
    expect(row !== undefined || probing, 'M-3', 'while there is nothing to probe');
    if (row === undefined) return;
    expect(row.outcome === undefined, 'I-1', 'after it was settled');
    expect(row.work === undefined, 'I-1', 'beside another');
    expect(attempt === row.attempts + 1, 'R-1', `as number ${row.attempts + 1}`);
    expect(row.attempts < row.maxAttempts, 'R-1', `of ${row.maxAttempts}`);
    expect(now >= row.retryAt, 'R-2', `before ${row.retryAt}`);
    expect(row.signal?.aborted !== true, 'R-8', 'after its caller aborted it');
    const lost = row.last?.outcome === 'unknown' && row.effect === 'mutating';
    expect(!lost, 'R-12', 'though it may have taken effect before');
    expect(!(probing && this.hasProbe) || row.effect === 'readOnly', 'M-3', 'as a probe, though it may have effects');
  }

  ended(work: Work, ending: Ending): void {
    const { clock } = this.#world;
    const books = this.#books.get(work);
    this.works.delete(work);
    this.#books.delete(work);
    if (work.writtenOff) this.model.reclaimed();
    // Looked at as the runtime does: an attempt that was given up is late, whatever it says.
    if (books === undefined || work.abortedAt !== undefined || work.context.signal.aborted) return;
    const { row, generation } = books;
    if (row !== undefined) row.work = undefined;
    if (ending.ok) {
      this.model.alive(generation, clock.now());
      if (row !== undefined) row.answer = ending.value;
      return;
    }
    const { kind, outcome, hintMs, ignored } = ending.fault;
    if (row !== undefined) {
      row.last = { kind, outcome };
      row.retryAt = clock.now() + (hintMs ?? 0);
    }
    const meaning = ignored === true ? 'ignored' : meaningOf(kind);
    if (meaning === 'alive') this.model.alive(generation, clock.now());
    else if (meaning === 'failure') this.model.failed(generation, clock.now(), kind, hintMs);
    else this.model.ignored(generation);
    if (kind === 'rate_limit' && hintMs !== undefined) this.model.paused(clock.now() + hintMs);
  }

  aborted(work: Work, reason: unknown): void {
    const { clock, trace } = this.#world;
    const books = this.#books.get(work);
    if (books === undefined) return;
    const { row, generation } = books;
    const {
      kind,
      outcome,
      reason: why,
    } = reason instanceof AttemptError
      ? reason.facts
      : { kind: 'cancelled' as const, outcome: 'cancelled' as const, reason: undefined };
    trace.note(`${row?.label ?? `${this.name} probe`} attempt ${work.context.attempt} aborted: ${kind} ${why ?? ''}`);
    if (row !== undefined) {
      row.work = undefined;
      row.last = { kind, outcome };
      this.#judgeTimeout(work, row, why);
    }
    if (meaningOf(kind) === 'failure') this.model.failed(generation, clock.now(), kind, undefined);
    else this.model.ignored(generation);
  }

  #judgeTimeout(work: Work, row: CallRow, reason: string | undefined): void {
    const { judge, clock } = this.#world;
    const { idleMs, attemptMs } = row.limits;
    const since =
      reason === 'idle_timeout'
        ? work.lastSignAt + idleMs
        : reason === 'attempt_timeout'
          ? work.startedAt + attemptMs
          : reason === 'overall_timeout'
            ? row.dueAt
            : 0;
    judge.expect(clock.now() >= since, 'R-9', () => `${row.label} ends by ${reason} before its limit, at ${since}`);
  }

  #rowOf(work: Work): CallRow | undefined {
    return this.#books.get(work)?.row;
  }

  #fallBack(row: CallRow, failure: Failure, signal: AbortSignal): unknown {
    const { chance, clock, judge, trace } = this.#world;
    trace.note(`${row.label} falls back`);
    judge.expect(row.fallback === undefined, 'R-11', () => `the fallback of ${row.label} is asked twice`);
    this.#fails(row, failure);
    const answer: NonNullable<CallRow['fallback']> = { failure, value: undefined };
    row.fallback = answer;
    const give = (): object => (answer.value = {});
    const later = (delayMs: number): Promise<object> =>
      new Promise((resolve) => {
        clock.setTimeout(() => resolve(row.outcome === undefined ? give() : {}), delayMs);
      });
    return chance.pick<() => unknown>([
      give,
      () => {
        throw new Error('the fallback fails');
      },
      () => Promise.reject(new Error('the fallback fails later')),
      () => later(chance.span(1, 100_000)),
      () => new Promise(() => undefined),
      () => new Promise((resolve) => signal.addEventListener('abort', () => resolve({}), { once: true })),
    ])();
  }
}
