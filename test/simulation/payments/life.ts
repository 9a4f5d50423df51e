import type { CallPath } from '../../../src/calls/callPath.ts';
import { DeadlineQueue } from '../../../src/calls/deadlineQueue.ts';
import type { AttemptContext } from '../../../src/calls/operation.ts';
import { SignalFanout } from '../../../src/calls/signalFanout.ts';
import { reconciledTools } from '../../../src/calls/reconcile/boundRule.ts';
import { probePort } from '../../../src/gateway/gatewayIntegrations.ts';
import { functionForms } from '../../../src/calls/reconcile/requestForms.ts';
import { createToolPort, type ToolTarget } from '../../../src/sessions/toolPort.ts';
import { sessionMachine, type SessionRef } from '../../../src/machines/session.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import { checkToolCallRetry } from '../../../src/policy/toolCallRetry.ts';
import { readTools, type ToolOptions } from '../../../src/policy/toolOptions.ts';
import { CallStatistics } from '../../../src/runtime/callStatistics.ts';
import { Flights } from '../../../src/runtime/flights.ts';
import { SharedBreakers } from '../../../src/runtime/sharedBreakers.ts';
import { type IntegrationRuntime, superviseIntegration } from '../../../src/runtime/superviseIntegration.ts';
import { SupervisedSession } from '../../../src/sessions/supervisedSession.ts';
import type { ToolRequest } from '../../../src/sessions/toolRequest.ts';
import type { Store } from '../../../src/store/store.ts';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import { createRootSupervisor, type RootSupervisor } from '../../../src/supervisor/supervisor.ts';
import { createBus } from '../../../src/telemetry/bus.ts';
import { seededRandom } from '../../../testing/random.ts';
import { ownBudgets, ownRates } from '../../support/rates.ts';
import { WatchedClock } from '../watchedClock.ts';
import type { Charge } from './bank.ts';
import { MortalClock } from './mortalClock.ts';
import type { PaymentWorld } from './paymentWorld.ts';
import { type Asked, pay } from './payer.ts';
import { ruleOf } from './rules.ts';
import { watchedSessions } from './watchedSessions.ts';

/** One life of the gateway, from its start to its stop or its death. Its database, the bank and everybody's books go on. */
export class Life {
  readonly number: number;
  readonly startedAt: number;
  readonly deadlines: DeadlineQueue;
  readonly bank: CallPath<unknown, unknown>;
  readonly sessions: readonly SupervisedSession[];
  isStopping = false;
  /** Probes of its rule that are under way. */
  probes = 0;
  /** Whether the process of the bank takes requests. */
  isBankUp = true;
  /** Tool calls that their agents wait for. */
  readonly calls = new Set<{ readonly call: string; readonly dueAt: number }>();
  /** While the stop ends what is under way. */
  #isEndingCalls = false;
  readonly #world: PaymentWorld;
  readonly #mortal: MortalClock;
  readonly #watched: WatchedClock;
  readonly #root: RootSupervisor;
  readonly #opening: Promise<Store>;
  readonly #pending: ChildSpec[] = [];
  readonly #targets = new Map<string, ToolTarget>();
  /** Processes of the bank: the current one, and how many have ended. */
  readonly #processes = { current: 1, gone: 0 };

  constructor(world: PaymentWorld, number: number) {
    this.#world = world;
    this.number = number;
    this.startedAt = world.clock.now();
    this.#mortal = new MortalClock(world.clock, () => world.crossing());
    this.#watched = new WatchedClock(this.#mortal, world.judge);
    const clock = this.#watched;
    const random = seededRandom(world.seed * 1000 + number);
    const bus = {
      ...createBus({ clock }),
      tell: (fact: Fact) => this.#hear(fact),
      wants: () => true,
    };
    this.#root = createRootSupervisor({ clock, random, facts: bus });
    this.deadlines = new DeadlineQueue(clock);
    this.#opening = world.file.open(clock, bus);
    const runtime: IntegrationRuntime = {
      redactAnswer: (data) => data,
      clock,
      random,
      bus,
      deadlines: this.deadlines,
      signals: new SignalFanout(),
      tracing: { tracer: undefined },
      rates: ownRates(clock),
      budgets: ownBudgets(clock),
      statistics: new CallStatistics(clock, () => undefined),
      flights: new Flights({ clock, bus, store: () => undefined, redact: (fact) => fact }),
      sharedBreakers: new SharedBreakers(clock, () => undefined),
      store: () => undefined,
      supervise: (spec) => void this.#pending.push(spec),
      enter: () => undefined,
    };
    this.#add(runtime, 'books', { list_payments: { effect: 'readOnly' } });
    const reconcile = ruleOf(world.ruling, (lost, context) => world.probe(this, lost, context));
    this.bank = this.#add(runtime, 'bank', {
      charge: { effect: 'mutating', reconcile },
      list_payments: { effect: 'readOnly' },
    });
    const tools = createToolPort(this.#targets, checkToolCallRetry(undefined), clock);
    this.sessions = world.sessions.map((id) => {
      const session: SupervisedSession = new SupervisedSession(
        { id, clock, deadlines: this.deadlines, facts: bus, tools, kept: true },
        {
          onMessage: ({ data }, turn) =>
            this.isAlive ? pay(world, this, session, data as Asked, turn) : new Promise(() => undefined),
          watchdog: world.watchdog,
          recovery: { maxDeliveries: 100 },
        },
      );
      this.#pending.push({
        id: `session:${id}`,
        logic: sessionMachine,
        input: { session: id, ...session.limits },
        shutdown: session.limits.releaseMs + 1000,
        onStart: (ref, incarnation) => session.attach(ref as SessionRef, incarnation),
      });
      return session;
    });
  }

  get isAlive(): boolean {
    return this.#mortal.isAlive;
  }

  /** Timers that are set. */
  get timers(): number {
    return this.#watched.pending;
  }

  async start(): Promise<void> {
    const world = this.#world;
    const { file, orders, clock } = world;
    const id = `life ${this.number}`;
    this.#root.start();
    for (const spec of this.#pending.splice(0)) this.#root.startChild(spec);
    const row = { id, pid: this.number, processStart: '', startedAt: clock.wallNow(), renewedAt: clock.wallNow() };
    const store = await this.#opening;
    store.runtimes.enter({ ...row, name: 'simulation', socket: undefined });
    const kept = store.sessions?.({ id, isAlive: (run) => run.id === id });
    if (kept === undefined) throw new Error('The file keeps no sessions');
    const sessions = watchedSessions(kept, {
      verdict: (call, verdict) => {
        if (this.isAlive) orders.verdict(call, verdict);
      },
      settled: (call, result) => {
        if (!this.isAlive || file.resultOf(call) !== undefined) return;
        world.checkLeft(call, result, this.#isEndingCalls);
        orders.settled(call, this.number);
        orders.told(call, result);
      },
    });
    await Promise.all(this.sessions.map((session) => session.open(sessions)));
  }

  /** Its own time passes; never ends when it dies before. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#mortal.setTimeout(resolve, ms);
    });
  }

  /** Stops in the order of a gateway. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.#isEndingCalls = true;
    for (const session of this.sessions) session.stop();
    for (const { path } of this.#targets.values()) path.stop();
    this.#isEndingCalls = false;
    await this.#root.stop();
    for (const session of this.sessions) session.ended();
    const store = await this.#opening;
    store.runtimes.leave(`life ${this.number}`);
    await store.close();
  }

  /** Ends at once, in the middle of whatever it does. */
  kill(): void {
    this.#mortal.isAlive = false;
  }

  /** The process of the bank breaks off: its connection first, then all that it was to do. */
  bankEnds(): void {
    this.isBankUp = false;
    if (!this.isAlive || this.isStopping) return;
    this.bank.crashed({ kind: 'crash', reason: 'connection_lost', message: 'The bank ended', outcome: 'unknown' });
  }

  /** All of its process has ended. */
  bankEnded(): void {
    this.#processes.gone = this.#processes.current;
    if (this.isAlive && !this.isStopping) this.bank.incarnationEnded();
  }

  bankStarts(): void {
    this.#processes.current = this.#processes.gone + 1;
    this.isBankUp = true;
    if (this.isAlive && !this.isStopping) this.bank.restarted();
  }

  /** A probe is under way until its signal says that it is over. */
  probing(signal: AbortSignal): void {
    this.probes++;
    signal.addEventListener('abort', () => this.probes--, { once: true });
  }

  get isBankGone(): boolean {
    return this.#processes.gone >= this.#processes.current;
  }

  #add(runtime: IntegrationRuntime, name: string, options: Record<string, ToolOptions>): CallPath<unknown, unknown> {
    const world = this.#world;
    const incarnation = {
      current: () => this.#processes.current,
      isGone: (of: number | undefined) => of !== undefined && of <= this.#processes.gone,
    };
    const path = superviseIntegration<unknown, unknown>(runtime, {
      name,
      about: { type: 'function' },
      policy: resolvePolicy(name, world.policy),
      operation: (request, context) => this.#operate(request as ToolRequest, context),
      toolOf: (request) => (request as ToolRequest).tool,
      restartInMs: () => 1000,
      incarnation:
        name === 'bank' && world.ruling.isLocal
          ? {
              get current() {
                return incarnation.current();
              },
              isGone: incarnation.isGone,
            }
          : undefined,
    });
    const known = new Map(Object.entries(readTools(name, options)));
    const tools = reconciledTools(name, known, undefined, functionForms, probePort(this.#targets));
    const request = (tool: string, input: unknown): ToolRequest => ({ tool, input });
    this.#targets.set(name, { path, effect: undefined, tools, forms: functionForms, request });
    return path;
  }

  #operate({ tool, input }: ToolRequest, { signal }: AttemptContext): unknown {
    const world = this.#world;
    if (this.isAlive) world.crossing();
    // A dead process asks nobody.
    if (!this.isAlive) return new Promise(() => undefined);
    return tool === 'charge' ? world.charge(this, input as Charge, signal) : world.list(this);
  }

  #hear(fact: Fact): void {
    if (!this.isAlive) return;
    this.#world.trace.note(
      `  ${fact.type} ${'integration' in fact ? fact.integration : ''}${'verdict' in fact ? ` ${fact.verdict}: ${fact.how}` : ''}`,
    );
    this.#world.crossing();
  }
}
