import { getEventListeners } from 'node:events';
import type { AnyActorLogic } from 'xstate';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import { SignalFanout } from '../../src/calls/signalFanout.ts';
import type { Fact } from '../../src/policy/facts/facts.ts';
import type { IntegrationRuntime } from '../../src/runtime/superviseIntegration.ts';
import type { ToolPort } from '../../src/sessions/toolPort.ts';
import type { ChildSpec } from '../../src/supervisor/childSpec.ts';
import { createRootSupervisor, type RootSupervisor } from '../../src/supervisor/supervisor.ts';
import { Flights } from '../../src/runtime/flights.ts';
import { CallStatistics } from '../../src/runtime/callStatistics.ts';
import { SharedBreakers } from '../../src/runtime/sharedBreakers.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { seededRandom } from '../../testing/random.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import type { CallRow } from './callRow.ts';
import type { Chance } from './chance.ts';
import { Draining } from './draining.ts';
import { checkIntegration } from './integrationChecks.ts';
import { Judge } from './judge.ts';
import { PlannedChance } from './plan.ts';
import { hear, isEarly } from './hearing.ts';
import { recordingToolPort } from './recordingToolPort.ts';
import { SimulatedIntegration } from './simulatedIntegration.ts';
import { SimulatedSession } from './simulatedSession.ts';
import { createTrace, type Trace } from './trace.ts';
import { WatchedClock } from './watchedClock.ts';
import { ownBudgets, ownRates } from '../support/rates.ts';

export interface WorldOptions {
  readonly seed: number;
  /** Told each line of the trace. */
  readonly heard?: ((line: string) => void) | undefined;
  /** Numbers of the planned steps that are played. @defaultValue all */
  readonly only?: readonly number[] | undefined;
  /** The queue of deadlines; another one shows that the simulation notices. @defaultValue the runtime's own */
  readonly createDeadlines?: ((clock: WatchedClock) => DeadlineQueue) | undefined;
}

/** Longest orderly stop of a root supervisor, in ms. */
const longestStopMs = 60_000;

/** A small gateway on simulated time, joined as the real one is, and everybody around it. */
export class World {
  readonly planned: PlannedChance;
  readonly chance: Chance;
  readonly clock = new SimulatedClock();
  readonly trace: Trace;
  readonly judge: Judge;
  readonly runtime: IntegrationRuntime;
  readonly root: RootSupervisor;
  readonly tools: ToolPort;
  readonly integrations: readonly SimulatedIntegration[];
  readonly sessions: readonly SimulatedSession[];
  /** Children that wait to be released by hand. */
  readonly quarantined = new Set<string>();
  started = false;
  stopped = false;
  /** While a listener acts in the middle of a change, which the books do not know of yet. */
  reacting = false;
  /** Set once the stop is over. */
  over = false;
  /** Once all faults have stopped: everything answers at once, and nobody does anything odd. */
  calm = false;
  calls = 0;
  readonly #draining: Draining;
  readonly #watched: WatchedClock;
  readonly seed: number;
  readonly #pending: ChildSpec[] = [];
  readonly #signals: AbortController[] = [];
  #stopping: Promise<void> | undefined = undefined;
  #stopDue = Number.POSITIVE_INFINITY;

  constructor({ seed, heard, createDeadlines = (clock) => new DeadlineQueue(clock) }: WorldOptions) {
    this.seed = seed;
    this.planned = new PlannedChance(seed);
    this.chance = this.planned.chance;
    this.trace = createTrace(() => this.clock.now(), heard);
    this.judge = new Judge(this.clock, this.trace);
    this.#watched = new WatchedClock(this.clock, this.judge);
    const clock = this.#watched;
    const random = seededRandom(seed ^ 0x5eed);
    const bus = {
      ...createBus({ clock }),
      tell: (fact: Fact) => this.#hear(fact),
      wants: () => true,
    };
    this.root = createRootSupervisor({ clock, random, facts: bus });
    this.runtime = {
      redactAnswer: (data) => data,
      clock,
      random,
      bus,
      deadlines: createDeadlines(clock),
      signals: new SignalFanout(),
      tracing: { tracer: undefined },
      rates: ownRates(clock),
      budgets: ownBudgets(clock),
      statistics: new CallStatistics(clock, () => undefined),
      flights: new Flights({ clock, bus, store: () => undefined, redact: (fact) => fact }),
      sharedBreakers: new SharedBreakers(clock, () => undefined),
      store: () => undefined,
      supervise: (spec) => void this.#pending.push(this.#watchedSpec(spec)),
      enter: () => undefined,
    };
    const names = ['kb', 'search', 'mail', 'files'].slice(0, this.chance.integer(1, 4));
    this.integrations = names.map((name) => new SimulatedIntegration(this, name));
    this.tools = recordingToolPort(this);
    const ids = ['alice', 'bob', 'carol'].slice(0, this.chance.integer(1, 3));
    this.sessions = ids.map((id) => new SimulatedSession(this, id));
    this.#draining = new Draining(this);
  }

  /** Whether new calls and messages are refused. */
  get refusing(): boolean {
    return this.stopped || this.#draining.begun;
  }

  start(): void {
    if (this.started || this.stopped) return;
    this.trace.note('start');
    this.root.start();
    for (const spec of this.#pending.splice(0)) {
      if (!this.stopped) this.root.startChild(spec);
    }
    this.started = true;
  }

  /** Stops everything with a grace. */
  drain(): void {
    if (this.stopped || !this.started) return;
    this.#draining.begin(this.chance.span(1, 60_000));
  }

  /** Stops everything, in the order of a gateway. */
  stop(): void {
    if (this.#stopping !== undefined) return;
    this.trace.note('stop');
    this.stopped = true;
    this.#stopDue = this.clock.now() + longestStopMs;
    for (const { session } of this.sessions) session.stop();
    for (const integration of this.integrations) integration.stop();
    this.#stopping = this.root.stop().then(() => {
      for (const { session } of this.sessions) session.ended();
      this.runtime.statistics.keep();
      this.over = true;
      this.trace.note('stopped');
    });
  }

  /** Ends everything that goes wrong, and what goes on in the wake of it. */
  calmDown(): void {
    this.calm = true;
    for (const integration of this.integrations) integration.calmDown();
    for (const id of [...this.quarantined]) this.release(id);
  }

  /** Makes the actor of a child throw in its next step. */
  crashActor(id: string): void {
    const ref = this.root.ref(id);
    // A child that fails at its first start is a gateway that does not start at all.
    if (ref === undefined || !this.started) return;
    this.trace.note(`the actor ${id} crashes`);
    this.integrations.find(({ name }) => id === `integration:${name}`)?.model.died();
    ref.send({ type: 'simulation.crash' });
  }

  /** Restarts a quarantined child by hand. */
  release(id: string): void {
    if (this.stopped || !this.quarantined.delete(id)) return;
    this.trace.note(`${id} is released from quarantine`);
    this.root.restartChild(id);
  }

  /** A caller's signal, maybe one that others use too, or one that is aborted already. */
  signal(): AbortSignal {
    if (this.#signals.length === 0 || this.chance.happens(0.5)) this.#signals.push(new AbortController());
    return this.chance.pick(this.#signals).signal;
  }

  abortSignal(signal?: AbortSignal): void {
    const controller =
      signal === undefined ? this.chance.pick(this.#signals) : this.#signals.find((each) => each.signal === signal);
    if (controller === undefined || controller.signal.aborted) return;
    this.trace.note('a caller aborts its signal');
    controller.abort(this.chance.pick<unknown>([undefined, new Error('enough'), 'text', null]));
  }

  /** Something an operation does in the middle of being called. */
  mischief(integration: SimulatedIntegration, row: CallRow | undefined): void {
    this.chance.pick<() => void>([
      () => this.abortSignal(row?.signal),
      () => integration.crash(),
      () => integration.isolate(),
      () => integration.reset(),
      () => integration.call(undefined),
      () => this.crashActor(`integration:${integration.name}`),
      () => (this.chance.happens(0.1) ? this.stop() : this.chance.pick(this.sessions).send('note')),
    ])();
  }

  /** Crashes an actor again and again, until its supervisor puts it aside. */
  storm(id: string, left = 8): void {
    if (this.calm) return;
    this.crashActor(id);
    if (left > 0) this.clock.setTimeout(() => this.storm(id, left - 1), this.chance.span(20, 1000));
  }

  integration(name: string): SimulatedIntegration | undefined {
    return this.integrations.find((each) => each.name === name);
  }

  check(): void {
    const { judge } = this;
    this.#draining.check();
    for (const integration of this.integrations) checkIntegration(this, integration);
    for (const session of this.sessions) session.check();
    judge.expect(this.over || !judge.overdue(this.#stopDue), 'I-3', () => 'the stop is not over');
  }

  /** After the stop: nothing is left behind. */
  checkStopped(): void {
    const { judge, runtime } = this;
    for (const { rows } of this.integrations) {
      judge.expect(rows.size === 0, 'I-1', () => `${[...rows.keys()][0]} has not settled after the stop`);
    }
    for (const session of this.sessions) session.checkStopped();
    judge.expect(runtime.deadlines.size === 0, 'I-3', () => `${runtime.deadlines.size} deadlines are left`);
    // Calls that were made after it are counted still; what was counted is handed on within 10 s.
    runtime.statistics.keep();
    judge.expect(this.#watched.pending === 0, 'I-3', () => `${this.#watched.pending} timers are left`);
    for (const { signal } of this.#signals) {
      const listeners = getEventListeners(signal, 'abort').length;
      judge.expect(listeners === 0, 'I-3', () => `${listeners} listeners are left on a caller's signal`);
    }
  }

  #hear(fact: Fact): void {
    hear(this, fact);
    this.trace.note(`  ${fact.type} ${'child' in fact ? fact.child : 'integration' in fact ? fact.integration : ''}`);
    if (!this.calm && !isEarly(fact) && this.chance.happens(0.01)) this.#react();
  }

  /** What a listener does with the news, in the middle of whatever the runtime is doing. */
  #react(): void {
    this.trace.note('a listener reacts');
    this.reacting = true;
    this.chance.weighted<() => void>([
      [4, () => this.chance.pick(this.integrations).call(this.chance.happens(0.5) ? this.signal() : undefined)],
      [4, () => this.abortSignal()],
      [3, () => this.chance.pick(this.sessions).send('note')],
      [0.3, () => this.stop()],
      [0.3, () => this.drain()],
    ])();
    this.reacting = false;
  }

  #watchedSpec(spec: ChildSpec): ChildSpec {
    const modelOf = () => this.integrations.find(({ name }) => spec.id === `integration:${name}`)?.model;
    return {
      ...spec,
      logic: mortal(spec.logic),
      onStart: (ref, incarnation) => {
        modelOf()?.reborn();
        spec.onStart?.(ref, incarnation);
      },
      onExit: (exit, incarnation) => {
        if (!this.stopped) modelOf()?.died();
        spec.onExit?.(exit, incarnation);
      },
    };
  }
}

/** Logic that throws in its transition when told to, whatever its state. */
function mortal(logic: AnyActorLogic): AnyActorLogic {
  const transition: AnyActorLogic['transition'] = (snapshot, event: { readonly type: string }, scope) => {
    if (event.type === 'simulation.crash') throw new Error('the actor crashes');
    return logic.transition(snapshot, event, scope);
  };
  return Object.assign(Object.create(logic) as AnyActorLogic, { transition });
}
