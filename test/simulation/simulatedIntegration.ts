import type { CallSettings } from '../../src/calls/callOptions.ts';
import type { AttemptContext } from '../../src/calls/operation.ts';
import type { CallPath } from '../../src/calls/callPath.ts';
import { type BreakerHandle, CallableIntegration, type Integration } from '../../src/calls/integration.ts';
import type { Failure, Outcome } from '../../src/policy/failures/failure.ts';
import type { IntegrationPolicy } from '../../src/policy/policy.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { superviseIntegration } from '../../src/runtime/superviseIntegration.ts';
import { Attempts } from './attempts.ts';
import { type CallRow, callRow, isWaiting, wordOf } from './callRow.ts';
import { CircuitModel } from './circuitModel.ts';
import { fallBack } from './fallBack.ts';
import { type Mood, moods } from './plans.ts';
import { randomEffect, randomLimits, randomPolicy } from './policies.ts';
import type { World } from './world.ts';

/** What an operation is called with: the row of its call. */
export interface Request {
  readonly row: CallRow;
}

/** An integration of the world with the books of its other side: what was asked of it, and what it did. */
export class SimulatedIntegration {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly model: CircuitModel;
  readonly path: CallPath<Request, unknown>;
  readonly integration: Integration<Request, unknown>;
  readonly hasProbe: boolean;
  readonly rows = new Map<string, CallRow>();
  /** Calls that failed since the last check, whatever their fallback makes of it. */
  readonly failed: { readonly row: CallRow; readonly failure: Failure }[] = [];
  readonly attempts: Attempts;
  mood: Mood = 'well';
  stopped = false;
  readonly #world: World;
  readonly #releases: (() => void)[] = [];
  #epoch = 0;
  #lastCall = 0;

  constructor(world: World, name: string) {
    const { chance } = world;
    this.#world = world;
    this.name = name;
    this.policy = resolvePolicy(name, randomPolicy(chance));
    this.model = new CircuitModel(this.policy);
    this.attempts = new Attempts(world, this);
    this.model.down = chance.happens(0.1);
    this.hasProbe = chance.happens(0.3);
    const restartInMs = chance.happens(0.5) ? chance.span(1, 5000) : undefined;
    this.path = superviseIntegration<Request, unknown>(world.runtime, {
      name,
      about: { type: 'function' },
      policy: this.policy,
      operation: ({ row }, context) => this.attempts.operate(row, context),
      // The context of a harmless probe is a whole one, though its type says less.
      probe: this.hasProbe ? (context) => this.attempts.operate(undefined, context as AttemptContext) : undefined,
      restartInMs: () => restartInMs,
      startsDown: () => this.model.down,
    });
    this.integration = new CallableIntegration(this.path);
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
      ownLimits: this.policy.limits,
      dueAt: clock.now() + limits.overallMs,
      maxAttempts,
      effect: randomEffect(chance),
      signal,
      ofSession: false,
    });
    const settings: CallSettings<Request, unknown> = {
      ...limits,
      ownLimits: this.policy.limits,
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
    this.#world.calls++;
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

  #fallBack(row: CallRow, failure: Failure, signal: AbortSignal): unknown {
    const { judge, trace } = this.#world;
    trace.note(`${row.label} falls back`);
    judge.expect(row.fallback === undefined, 'R-11', () => `the fallback of ${row.label} is asked twice`);
    this.#fails(row, failure);
    row.fallback = { failure, value: undefined };
    return fallBack(this.#world, row, signal);
  }

  #fails(row: CallRow, failure: Failure): void {
    this.failed.push({ row, failure });
    const { judge, clock, reacting } = this.#world;
    if (failure.kind === 'too_many_requests') {
      // Who hears of the refusal may free places, or stop everything, before the caller is told.
      if (reacting || this.stopped) return;
      const waiting = [...this.rows.values()].filter((other) => other !== row && isWaiting(other)).length;
      const full = this.attempts.full || (this.hasProbe && waiting >= this.policy.maxInFlight);
      judge.expect(full, 'M-9', () => `${row.label} is refused for want of a place, while there is one`);
    } else if (failure.kind === 'circuit_open' && row.attempts === 0 && row.startedAt === clock.now()) {
      if (reacting || this.stopped) return;
      const mayProbe = this.model.mayBeProbed(clock.now()) && (!this.hasProbe || row.effect === 'readOnly');
      judge.expect(!mayProbe, 'M-3', () => `${row.label} is refused, while it may be made as a probe`);
    }
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

  /** What an operator does when calls hang in it. */
  restartByHand(): void {
    if (this.#world.stopped) return;
    this.#world.trace.note(`${this.name}: restarted by hand`);
    this.#epoch++;
    this.model.reset();
    this.path.restart();
  }

  /** All is well from now on: what hangs answers, what is down is back, and nobody isolates it. */
  calmDown(): void {
    this.mood = 'well';
    this.restart();
    for (const release of this.#releases.splice(0)) release();
    for (const work of [...this.attempts.works.keys()]) work.end(work.plan.ending);
  }

  changeMood(): void {
    this.mood = this.#world.chance.pick(moods);
    this.#world.trace.note(`${this.name}: is ${this.mood}`);
  }
}
