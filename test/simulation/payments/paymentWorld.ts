import type { Limits } from '../../../src/policy/policy.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { mostProbes } from '../../../src/calls/reconcile/probeSteps.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import type { LostAnswer, ProbeContext, Verdict } from '../../../src/policy/reconcileRule.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import type { Chance } from '../chance.ts';
import { Judge } from '../judge.ts';
import { PlannedChance } from '../plan.ts';
import type { Watchdog } from '../policies.ts';
import { createTrace, type Trace } from '../trace.ts';
import type { WorldOptions } from '../world.ts';
import { Bank, type BankMood, type Charge, type Payment } from './bank.ts';
import { Life } from './life.ts';
import { Orders, outcomeOf, unclear } from './orders.ts';
import { randomRuling, type Ruling } from './rules.ts';
import { SimulatedFile } from './simulatedFile.ts';

const moods: readonly BankMood[] = ['well', 'lossy', 'slow', 'refusing', 'mad'];

/** Longest orderly stop, in ms. */
const longestStopMs = 60_000;

export interface PaymentOptions extends Pick<WorldOptions, 'seed' | 'heard' | 'only'> {
  /** Makes another ruling of that of the seed: one that says what is not so shows that the simulation notices. */
  readonly amend?: ((ruling: Ruling) => Ruling) | undefined;
}

/** A gateway that is killed and started again, its agents, and a bank that loses answers. */
export class PaymentWorld {
  readonly seed: number;
  readonly planned: PlannedChance;
  readonly chance: Chance;
  readonly clock = new SimulatedClock();
  readonly trace: Trace;
  readonly judge: Judge;
  readonly file = new SimulatedFile();
  readonly ruling: Ruling;
  readonly bank: Bank;
  readonly orders: Orders;
  readonly sessions: readonly string[];
  readonly watchdog: Watchdog;
  readonly policy: PolicyInput & { readonly limits: Limits };
  life: Life | undefined = undefined;
  calls = 0;
  /** Whether faults go on; they end before the end. */
  isFaulty = true;
  /** Until when those who are asked answer nobody: their circuit opens, or they say when to come back. */
  #booksClosedUntil = 0;
  readonly #killsInMidStep: number;
  #lives = 0;
  #lastOrder = 0;
  #stopDue = Number.POSITIVE_INFINITY;

  constructor({ seed, heard, amend = (ruling) => ruling }: PaymentOptions) {
    this.seed = seed;
    this.planned = new PlannedChance(seed);
    this.chance = this.planned.chance;
    const { chance } = this;
    this.trace = createTrace(() => this.clock.now(), heard);
    this.judge = new Judge(this.clock, this.trace);
    this.ruling = amend(randomRuling(chance));
    this.policy = {
      limits: limitsWithin(chance.span(3000, 120_000)),
      breaker: { resetTimeoutMs: 5000, maxOpenMs: 20_000 },
    };
    this.orders = new Orders(this.file, this.judge);
    this.bank = new Bank(this.clock, chance, this.ruling.bounds, (payment) => {
      this.trace.note(`the bank pays ${payment.reference} for ${payment.request.call}`);
      this.orders.paid(payment);
    });
    this.sessions = ['alice', 'bob'].slice(0, chance.integer(1, 2));
    const releaseMs = chance.span(100, 5000);
    this.watchdog = {
      toolCallMs: chance.span(2000, 300_000),
      turnMs: chance.span(60_000, 600_000),
      releaseMs,
      recoveryMs: releaseMs + 5000,
    };
    this.#killsInMidStep = chance.happens(0.5) ? 0 : chance.span(1, 30) / 10_000;
    const { kind, isLocal, notBeforeMs } = this.ruling;
    this.trace.note(`a rule of kind ${kind}, ${isLocal ? 'local' : 'remote'}, final after ${notBeforeMs ?? 'no time'}`);
  }

  start(): void {
    if (this.life !== undefined) return;
    const life = new Life(this, ++this.#lives);
    this.life = life;
    this.trace.note(`the gateway starts (${life.number})`);
    void life.start();
  }

  /** Anything that the gateway does may be the last. */
  crossing(): void {
    if (this.isFaulty && this.chance.happens(this.#killsInMidStep)) this.kill();
  }

  kill(): void {
    const { life } = this;
    if (life === undefined) return;
    this.trace.note('the gateway is killed');
    life.kill();
    this.life = undefined;
    this.#stopDue = Number.POSITIVE_INFINITY;
    this.orders.forgotten();
    this.bank.callerEnded();
  }

  /** The gateway dies again and again, soon after each start: what it had under way is delivered each time. */
  crashLoop(): void {
    const { chance, clock } = this;
    for (let left = chance.integer(2, 4), at = 0; left > 0; left--) {
      at += chance.span(1, 3000);
      clock.setTimeout(() => {
        if (!this.isFaulty) return;
        this.kill();
        this.start();
      }, at);
    }
  }

  stop(): void {
    const { life } = this;
    if (life === undefined || life.isStopping) return;
    this.trace.note('the gateway stops');
    this.#stopDue = this.clock.now() + longestStopMs;
    void life.stop().then(() => this.#stopped(life));
  }

  #stopped(life: Life): void {
    if (!life.isAlive) return;
    const { judge } = this;
    judge.expect(life.deadlines.size === 0, 'R-16', () => `${life.deadlines.size} deadlines are left after the stop`);
    judge.expect(life.calls.size === 0, 'R-16', () => `${[...life.calls][0]?.call} has no result after the stop`);
    this.trace.note('the gateway has stopped');
    life.kill();
    this.life = undefined;
    this.#stopDue = Number.POSITIVE_INFINITY;
    this.orders.forgotten();
    this.bank.callerEnded();
  }

  /** Somebody wants something paid. */
  send(): void {
    const { life, chance } = this;
    if (life === undefined || life.isStopping) return;
    const session = chance.pick(life.sessions);
    const orders = Array.from({ length: chance.integer(1, 3) }, () => `o-${++this.#lastOrder}`);
    for (const reference of orders) this.orders.make(reference, session.id, chance.happens(0.5));
    this.trace.note(`${session.id} is to pay ${orders.join(', ')}`);
    void session.send({ kind: 'user', data: { orders } });
  }

  /** Very many are to pay at once, and all their answers are lost. */
  rush(): void {
    for (let messages = this.chance.integer(2, 8); messages > 0; messages--) this.send();
    this.clock.setTimeout(() => this.bank.loseAll(), this.chance.span(1, 300));
  }

  /** Those who are asked what became of a payment are overloaded, or down. */
  closeBooks(): void {
    const ms = this.chance.span(1000, 90_000);
    this.trace.note(`the books are closed for ${ms}`);
    this.#booksClosedUntil = this.clock.now() + ms;
  }

  /** Somebody asks again for what was asked for before. */
  sendAgain(): void {
    const { life, chance } = this;
    const order = chance.pick(this.orders.list());
    const session = life?.sessions.find(({ id }) => id === order?.session);
    if (life === undefined || life.isStopping || session === undefined || order === undefined) return;
    void session.send({ kind: 'user', data: { orders: [order.reference], isAgain: true } });
  }

  changeMood(): void {
    this.bank.mood = this.chance.pick(moods);
    this.trace.note(`the bank is ${this.bank.mood}`);
  }

  /** The bank is killed. A remote one comes back with what it had in hand; a process of ours does nothing more once it has ended. */
  killBank(): void {
    const { life, ruling, chance, clock } = this;
    if (!ruling.isLocal) {
      this.trace.note('the connections to the bank break');
      this.bank.loseAll();
      return;
    }
    if (life === undefined || !life.isBankUp) return;
    this.trace.note('the process of the bank breaks off');
    this.bank.loseAll();
    life.bankEnds();
    clock.setTimeout(
      () => {
        if (!life.isAlive) return;
        this.trace.note('the process of the bank has ended');
        this.bank.end();
        life.bankEnded();
        clock.setTimeout(
          () => {
            if (life.isAlive) life.bankStarts();
          },
          chance.span(1, 3000),
        );
      },
      chance.span(1, 3000),
    );
  }

  /** An operator has what comes next come now, ends a call, or has no further attempt of it follow. */
  order(): void {
    const { life, chance } = this;
    if (life === undefined || life.isStopping) return;
    const session = chance.pick(life.sessions);
    const { calls, rules } = session.why();
    const rule = chance.pick(rules);
    const call = chance.pick(calls);
    chance.weighted<() => void>([
      [3, () => void (rule !== undefined && this.#note(`fires ${rule.rule}`, () => session.fire(rule.id)))],
      [1, () => void (call !== undefined && this.#note('cancels a call', () => session.cancel(call.call)))],
      [1, () => void (call !== undefined && this.#note('stops the retries', () => session.stopRetrying(call.call)))],
    ])();
  }

  stall(): void {
    const ms = this.chance.span(10, 60_000);
    this.trace.note(`the event loop stands still for ${ms}`);
    this.clock.stall(ms);
    this.judge.resumed(ms);
  }

  /** What the bank is asked by one life of the gateway. */
  charge(life: Life, charge: Charge, signal: AbortSignal): Promise<unknown> {
    this.calls++;
    const order = this.orders.of(charge.reference);
    const call = order.calls.at(-1) ?? '';
    order.isRisky ||= this.orders.isAtRisk(order, life.number, call);
    this.trace.note(`the bank is asked to pay ${charge.reference} for ${call}${order.isRisky ? ', at a risk' : ''}`);
    return this.bank
      .charge({ charge, call, payment: undefined }, signal)
      .then((payment) => ({ ...payment, request: call }));
  }

  /** The tool that lists: maybe late, never, in part, or nonsense. */
  list(life: Life): unknown {
    this.calls++;
    const fault = this.#closedFault() ?? this.#probeFault();
    if (fault !== undefined) return fault;
    const payments = this.bank.list(life.isBankGone).map((payment) => ({ ...payment, request: payment.request.call }));
    return this.isFaulty && this.chance.happens(0.1) ? { payments: payments.slice(1), has_more: true } : { payments };
  }

  /** A rule that is a function. */
  probe(life: Life, { input }: LostAnswer<unknown>, context: ProbeContext): Verdict | PromiseLike<Verdict> {
    const { reference } = input as Charge;
    this.trace.note(`the probe asks for ${reference}`);
    life.probing(context.signal);
    this.judge.expect(life.probes <= mostProbes, 'R-16', () => `${life.probes} probes are under way at once`);
    if (this.ruling.asks === 'books') return this.#askBooks(reference, context);
    const fault = this.#probeFault();
    if (fault !== undefined) return fault as PromiseLike<Verdict>;
    return this.#verdictOn(this.bank.list(life.isBankGone).find((payment) => payment.reference === reference));
  }

  /** The same by another integration, whose circuit may refuse. */
  async #askBooks(reference: string, { call }: ProbeContext): Promise<Verdict> {
    const outcome = await call('books', 'list_payments');
    if (!outcome.ok) return 'unknown';
    const { payments, has_more: isCut } = outcome.value as { payments?: readonly Payment[]; has_more?: boolean };
    const found = payments?.find((payment) => payment.reference === reference);
    return payments === undefined || (found === undefined && isCut === true) ? 'unknown' : this.#verdictOn(found);
  }

  #verdictOn(found: Payment | undefined): Verdict {
    if (found === undefined) return 'not_done';
    return this.ruling.hasResult ? { done: { ...found, request: undefined } } : 'done';
  }

  #closedFault(): Promise<unknown> | undefined {
    if (!this.isFaulty || this.clock.now() >= this.#booksClosedUntil) return undefined;
    const isBusy = this.chance.happens(0.3);
    const more = isBusy ? { retryAfterMs: this.chance.span(1, 20_000) } : {};
    const kind = isBusy ? 'rate_limit' : 'transient';
    return Promise.reject(new AttemptError({ kind, message: 'The books are closed', outcome: 'failed', ...more }));
  }

  #probeFault(): Promise<unknown> | undefined {
    const { chance, clock } = this;
    if (!this.isFaulty || chance.happens(0.6)) return undefined;
    return chance.pick<() => Promise<unknown>>([
      () => new Promise(() => undefined),
      () => Promise.reject(new Error('the probe is lost')),
      () => Promise.resolve({ yes: 'maybe' }),
      () => new Promise((resolve) => clock.setTimeout(() => resolve('unknown'), chance.span(1, 20_000))),
    ])();
  }

  #note(what: string, act: () => { readonly ok: boolean }): void {
    this.trace.note(`an operator ${what}: ${act().ok ? 'done' : 'refused'}`);
  }

  /** What a stop ends before it is known what became of it is the next life's to find out: the ledger keeps it open. */
  checkLeft(call: string, result: ToolResult, isStopped: boolean): void {
    const isKnown = !unclear.has(outcomeOf(result));
    this.judge.expect(isKnown || !isStopped, 'R-16', () => `the stop has settled ${call}, of which nothing is known`);
  }

  check(): void {
    const { life, judge } = this;
    judge.expect(!judge.overdue(this.#stopDue), 'R-16', () => 'the stop is not over');
    if (life === undefined) return;
    for (const { call, dueAt } of life.calls) {
      judge.expect(!judge.overdue(dueAt), 'R-16', () => `${call} was due at ${dueAt} and has no result`);
    }
    if (life.isStopping) return;
    // What an earlier life has left open is settled within the limit of a whole call.
    const settledBy = life.startedAt + this.policy.limits.overallMs;
    if (!judge.overdue(settledBy)) return;
    const pending = this.file.pendingBeside(`life ${life.number}`);
    judge.expect(pending.length === 0, 'R-16', () => `${pending[0]} of an earlier life has no result`);
  }

  /** After a long time without faults: nothing waits, and each call has one result. */
  checkQuiet(): void {
    const { life, judge } = this;
    for (const session of life?.sessions ?? []) {
      judge.expect(session.waiting === 0, 'R-16', () => `${session.id} has ${session.waiting} messages that wait`);
      const calls = session.history.filter(({ type }) => type === 'tool_call').length;
      const results = session.history.filter(({ type }) => type === 'tool_result').length;
      judge.expect(calls === results, 'R-16', () => `${session.id} has ${calls} tool calls and ${results} results`);
    }
    const { waiting = 0, attempts = 0 } = life?.bank.stats ?? {};
    judge.expect(waiting + attempts === 0, 'R-16', () => `${waiting} calls wait for ever, ${attempts} are made`);
    judge.expect(life?.bank.busy !== true, 'R-16', () => 'the bank is busy for ever');
  }
}

function limitsWithin(overallMs: number): Limits {
  return { idleMs: 10_000, attemptMs: Math.min(20_000, overallMs), overallMs };
}
