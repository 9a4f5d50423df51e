import { basename } from 'node:path';
import type { DrainOrder } from '../calls/draining.ts';
import type { LiveStatus } from '../control/answers.ts';
import type { Methods } from '../control/serveClient.ts';
import { say } from '../policy/text/logger.ts';
import { nameOfScope } from '../policy/text/budgetText.ts';
import { type BudgetAnswer, noteIn, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { readStoredName } from '../policy/options/storedName.ts';
import type { SupervisedSession } from '../sessions/supervisedSession.ts';
import type { SessionWhy } from '../sessions/why.ts';
import type { Sleepers } from '../supervisor/supervision.ts';
import type { TreeNode } from '../supervisor/tree.ts';
import { Drain } from './drain.ts';
import type { LiveRun } from './keptSessions.ts';
import type { StoreTuning } from './lateStore.ts';
import { noSession } from './knownNames.ts';
import { createLiveRuntime, liveStatus, nameIn, optionalNameIn } from './liveRuntime.ts';
import { isolateNamed, probeNamed, resetNamed, restartNamed, sessionMethods } from './operatorOrders.ts';
import type { Part, PathRole, RegisteredPath, Runtime } from './runtime.ts';
import { RuntimeLife, type StartOptions } from './runtimeLife.ts';
import type { CheckedGatewayOptions } from './runtimeOptions.ts';

interface RegistryStop {
  /** Time that what is under way may take to end by itself, in ms. @defaultValue 0 */
  readonly drainMs?: number | undefined;
  /**
   * Time that the calls that tell of what has happened, such as the delivery of an alert, may take to end by themselves, in ms from the beginning of the
   * stop. @defaultValue 3000
   */
  readonly lastCallsMs?: number | undefined;
  /** Opens a store that is not open yet for what was told before. @defaultValue false */
  readonly recordsEarly?: boolean | undefined;
}

const lastCallsDefaultMs = 3000;

/** Appearance of a registry to commands of other processes. */
interface Shown {
  /** @defaultValue the name of the program */
  readonly name?: string | undefined;
  /** Methods that it answers beside the usual, or in their place. */
  readonly methods?: Methods | undefined;
}

interface Entry extends PathRole {
  readonly path: RegisteredPath;
}

/**
 * A runtime and everything that was declared on it: what a host (a gateway, a proxy, one run, one agent) starts, looks at, restarts,
 * drains and stops as one. Nothing runs before its start.
 */
export class Registry {
  /** Runtime that the parts are given. */
  readonly runtime: Runtime;
  readonly #options: CheckedGatewayOptions;
  readonly #life: RuntimeLife;
  readonly #drain: Drain;
  /** Drain of what outlasts the other calls. */
  readonly #lastDrain: Drain;
  /** Time when that is cut, in monotonic ms. */
  #lastUntil = Number.POSITIVE_INFINITY;
  readonly #entries = new Map<string, Entry>();
  readonly #sessions = new Map<string, SupervisedSession>();
  readonly #parts = new Set<Part>();
  #shownName = basename(process.argv[1] ?? process.execPath);
  #stopping: Promise<void> | undefined = undefined;
  /** True once the last start has failed, and may be tried again: until then nobody is to wait for it. */
  #hasFailed = false;

  constructor(options: CheckedGatewayOptions, tuning: StoreTuning = {}) {
    const life = new RuntimeLife(options, tuning, sleepersIn(this.#sessions));
    this.#options = options;
    this.#life = life;
    const { clock, deadlines } = life.parts;
    const shownName = (): string => this.#shownName;
    this.#drain = new Drain({
      clock,
      deadlines,
      tell: (order) => this.#tellDrain(order),
      isBusy: () => this.#isBusy(),
    });
    this.#lastDrain = new Drain({
      clock,
      deadlines,
      tell: (order) => this.#tellLast(order),
      isBusy: () => this.#isLastBusy(),
    });
    this.runtime = {
      ...life.parts,
      get name() {
        return shownName();
      },
      get running() {
        return life.running;
      },
      get stopped() {
        return life.stopped;
      },
      store: () => life.store,
      supervise: (spec) => life.supervise(spec),
      declare: (name) => this.declare(name),
      path: (name) => this.#entries.get(name)?.path,
      enter: (path, role) => void this.#entries.set(path.name, { path, ...role }),
      leave: (name) => this.leave(name),
      join: (part) => this.join(part),
    };
    const { inbox } = this.runtime;
    if (inbox === undefined) return;
    inbox.placeOf = (session) => this.#sessions.get(session)?.place;
    this.join({ afterCalls: () => inbox.leave() });
  }

  get running(): boolean {
    return this.#life.running;
  }

  get stopped(): boolean {
    return this.#life.stopped;
  }

  get sessions(): ReadonlyMap<string, SupervisedSession> {
    return this.#sessions;
  }

  /** Names of hooks begin with `hook:`. */
  get paths(): ReadonlyMap<string, RegisteredPath> {
    return new Map(Array.from(this.#entries, ([name, { path }]) => [name, path]));
  }

  /** @throws TypeError, RangeError or Error when no integration of this name may be added. */
  declare(name: string): void {
    readStoredName('name', name);
    this.refuseLate();
    if (this.#entries.has(name)) throw new RangeError(`The name \`${name}\` is taken by another integration`);
  }

  /** Ends an integration for good, and forgets it. Never rejects. */
  async leave(name: string): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    const { root } = this.runtime;
    entry.path.stop();
    for (const id of [`mcp:${name}`, `integration:${name}`]) {
      await root.stopChild(id);
      // A child that a stop of everything has in hand is forgotten with the rest.
      if (root.state(id) === 'stopped') root.deleteChild(id);
    }
    this.#entries.delete(name);
  }

  /** True once nothing may be added any more. */
  get isLate(): boolean {
    return this.stopped || this.#drain.begun;
  }

  /** @throws Error when nothing may be added any more. */
  refuseLate(): void {
    if (this.stopped) throw new Error('The gateway is stopped');
    if (this.#drain.begun) throw new Error('The gateway is stopping');
  }

  addSession(session: SupervisedSession): void {
    this.#sessions.set(session.id, session);
    this.#life.forgotten.delete(session.id);
    if (this.#hasFailed) session.startFailed();
  }

  /** Lets go of a session that has ended: its id is free when this resolves. Never rejects. */
  async leaveSession(id: string): Promise<void> {
    const { root, flights, budgets } = this.runtime;
    await root.stopChild(`session:${id}`);
    // A stop of everything that has it in hand forgets it with the rest.
    if (root.state(`session:${id}`) === 'stopped') root.deleteChild(`session:${id}`);
    flights.sessionLeft(id);
    budgets.accounts.delete(`session:${id}`);
    this.#sessions.delete(id);
  }

  /** Lets go of a session that is to be erased: nothing of it is recorded here any more, unless it is named again. */
  async #forget(id: string, closes: boolean, { by, why }: OrderNote): Promise<OrderResult> {
    const session = this.session(id);
    if (!closes && !session.heldElsewhere && session.idleMs === undefined)
      return notDone(`${id} is under way: nothing was erased. --close has it end first.`);
    const result = await session.letGo({ because: 'forgotten', reason: why, by });
    if (!result.ok) return result;
    // Somebody has heard that it was closed.
    if (this.#sessions.has(id)) return notDone(`${id} was named again at once: nothing was erased.`);
    this.#life.forgotten.add(id);
    for (const { path } of this.#entries.values()) path.forget(id);
    this.runtime.inbox?.withdraw(id);
    this.runtime.results.forget(id);
    await this.runtime.store()?.flush();
    return result;
  }

  get #ordered() {
    const { root, bus } = this.runtime;
    return { root, facts: bus, paths: this.#entries, sessions: this.#sessions };
  }

  /** Has a part started, drained and stopped with the rest. @returns how it leaves. */
  join(part: Part): () => void {
    this.#parts.add(part);
    return () => void this.#parts.delete(part);
  }

  tree(): TreeNode {
    this.#followCalls();
    return this.runtime.root.tree();
  }

  status(): LiveStatus {
    const { runtime } = this;
    const stop = this.#stopping && { since: this.#drain.since, until: this.#drain.until ?? 0 };
    return liveStatus(this.paths.values(), this.#sessions.values(), runtime.clock, stop, runtime.store()?.outage);
  }

  /** @throws RangeError that lists the known names when there is none of this one. */
  restart(name: string, note: OrderNote = {}): void {
    restartNamed(name, note, this.#ordered);
  }

  /** Holds the circuit of an integration open until it is reset. @throws as {@link restart} */
  isolate(name: string, note: OrderNote = {}): void {
    isolateNamed(name, note, this.#ordered);
  }

  /** Closes the circuit of an integration. @throws as {@link restart} */
  reset(name: string, note: OrderNote = {}): void {
    resetNamed(name, note, this.#ordered);
  }

  /** Has an open circuit, or a server that asked not to be called, probed now. @throws as {@link restart} */
  probe(name: string, note: OrderNote = {}): OrderResult {
    return probeNamed(name, note, this.#ordered);
  }

  /** @throws TypeError or RangeError when there is no session of this id; it says what tells of an integration. */
  session(id: string): SupervisedSession {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    throw noSession(id, this.#sessions, this.#entries);
  }

  /** Raises a limit of what has this name, or scope (`session:NAME`), such as `tokens=3M`, or `tokens=3M/day`; without one says what is spent. */
  budget(name: string, limit?: string, note: OrderNote = {}): BudgetAnswer {
    const isNamed = ([scope]: readonly [string, unknown]): boolean => scope === name || nameOfScope(scope) === name;
    const named = [...this.runtime.budgets.accounts].filter(isNamed).map(([, account]) => account);
    const [first] = named;
    if (first === undefined) return notDone(`${name} has no budget.`);
    if (limit === undefined)
      return {
        ok: true,
        text: named.map(({ text }) => text).join(' '),
        limits: named.flatMap((account) => account.standings()),
      };
    // A session and an integration may have one name: what waits is meant.
    const fits = named.filter((account) => account.standings().some(({ metric }) => limit.startsWith(`${metric}=`)));
    return (fits.find((account) => account.isSpent) ?? fits[0] ?? first).raise(limit, note);
  }

  /** Tells what a session waits for, without secrets. @throws as {@link session} */
  why(id: string): SessionWhy {
    return this.session(id).why();
  }

  /**
   * Starts what was added, in order; the store is opened first, unless it is opened later.
   * @throws Error when it was started or stopped before.
   * @throws StoreUnavailableError when a store that is required cannot be had; it may be started again then.
   */
  async start(options: StartOptions = {}): Promise<void> {
    const isAllowed = this.#life.isNew;
    if (isAllowed) this.#startIsTried();
    try {
      await this.#life.start(options);
    } catch (error) {
      // A start that comes too late says nothing of the one before it.
      if (isAllowed && !this.stopped) this.#startHasFailed();
      throw error;
    }
    if (this.stopped) return;
    await Promise.all(Array.from(this.#parts, async (part) => part.loaded?.()));
    for (const part of this.#parts) part.started?.();
  }

  /** Opens the store of a registry that was started without; later calls join the first. Never rejects where the store is not required. */
  openStore(): Promise<void> {
    return this.#life.openStore();
  }

  /** Ends the children of runtimes that have died since the start; goes on behind. */
  reap(): void {
    this.#life.reap();
  }

  /** Makes it known to commands of other processes, once the store is open. The answers are without secrets. Never rejects. */
  show({ name = this.#shownName, methods }: Shown = {}) {
    this.#shownName = name;
    const { redactAnswer } = this.#options;
    const usual: Methods = {
      tree: () => redactAnswer(this.tree()),
      status: () => this.status(),
      restart: (params) => this.restart(nameIn(params), noteIn(params)),
      isolate: (params) => this.isolate(nameIn(params), noteIn(params)),
      reset: (params) => this.reset(nameIn(params), noteIn(params)),
      flight: async (params) => ({ kept: await this.runtime.flights.keep('asked', optionalNameIn(params, 'session')) }),
      probe: (params) => this.probe(nameIn(params), noteIn(params)),
      ...sessionMethods((id) => this.session(id), redactAnswer),
      why: (params) => this.why(nameIn(params, 'session')),
      forget: (params) => this.#forget(nameIn(params), optionalNameIn(params, 'target') === 'close', noteIn(params)),
      budget: (params) => this.budget(nameIn(params), optionalNameIn(params, 'target'), noteIn(params)),
    };
    const live = createLiveRuntime(this.runtime, this.#options, { ...usual, ...methods });
    this.join({ afterChildren: () => live.stop() });
    return {
      open: async (): Promise<LiveRun> => {
        const run = await live.start();
        if (!this.stopped) this.runtime.flights.keepPolicies();
        return run;
      },
      /** At once, for a process that cannot wait for the stop; that does it too. */
      close: (): void => live.stop(),
    };
  }

  /** A name that was mistyped would be configured for nothing, without a word. */
  tellUnused(): void {
    const { policies, bus, logger } = this.runtime;
    for (const { integration, nearest } of policies.unused([...this.#entries.keys()])) {
      const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      say(logger, 'warn', `Configured for ${integration}, which no integration is declared as${guess}`);
      bus.tell({ type: 'config.unused', integration, nearest });
    }
  }

  /**
   * Stops everything in reverse order, then closes the store and the bus; with `drainMs` only when what is under way had the time to end by
   * itself. Always resolves. Called again it joins the first, and can shorten its `drainMs` and the time for last calls.
   */
  stop({ drainMs = 0, lastCallsMs = lastCallsDefaultMs, recordsEarly }: RegistryStop = {}): Promise<void> {
    this.#drain.shorten(drainMs);
    const isAgain = this.#stopping !== undefined;
    this.#endLastBy(isAgain ? drainMs : lastCallsMs);
    if (this.#stopping !== undefined) return this.#stopping;
    let stopped: (end: Promise<void>) => void = () => undefined;
    // First: a listener that hears of an end may call again, and is to join this stop.
    this.#stopping = new Promise((resolve) => {
      stopped = resolve;
    });
    stopped(this.#stopAfter(drainMs, recordsEarly));
    return this.#stopping;
  }

  async #stopAfter(drainMs: number, recordsEarly: boolean | undefined): Promise<void> {
    // Before its start nothing is under way that could end by itself.
    if (drainMs > 0 && this.running) await this.#drain.begin(drainMs);
    await this.#life.stop({
      first: () => this.#endCalls(),
      last: () => this.#endLast(),
      ended: () => this.#ended(),
      recordsEarly,
    });
  }

  #startIsTried(): void {
    if (!this.#hasFailed) return;
    this.#hasFailed = false;
    for (const session of this.#sessions.values()) session.startsAgain();
  }

  #startHasFailed(): void {
    this.#hasFailed = true;
    for (const session of this.#sessions.values()) session.startFailed();
  }

  /** In so many ms at the latest. */
  #endLastBy(ms: number): void {
    this.#lastUntil = Math.min(this.#lastUntil, this.runtime.clock.now() + ms);
    this.#lastDrain.shorten(ms);
  }

  #endCalls(): void {
    for (const part of this.#parts) part.beforeSessions?.();
    for (const session of this.#sessions.values()) session.stop();
    for (const part of this.#parts) part.beforeCalls?.();
    for (const { path, outlasts } of this.#entries.values()) if (outlasts !== true) path.stop();
    for (const part of this.#parts) part.afterCalls?.();
  }

  /** Resolves once no call is under way. Never rejects. */
  async #endLast(): Promise<void> {
    const leftMs = this.#lastUntil - this.runtime.clock.now();
    if (leftMs > 0 && this.#isLastBusy()) await this.#lastDrain.begin(leftMs);
    for (const { path, outlasts } of this.#entries.values()) if (outlasts === true) path.stop();
  }

  #ended(): void {
    for (const session of this.#sessions.values()) session.ended();
    for (const part of this.#parts) part.afterChildren?.();
  }

  #tellDrain(order: DrainOrder): void {
    for (const session of this.#sessions.values()) session.drain(order);
    for (const part of this.#parts) part.drain?.(order);
    for (const { path, serves = false } of this.#entries.values()) path.drain({ ...order, admits: serves });
  }

  #tellLast(order: DrainOrder): void {
    for (const part of this.#parts) if (part.outlasts === true) part.drain?.(order);
    for (const { path, outlasts } of this.#entries.values())
      if (outlasts === true) path.drain({ ...order, admits: true });
  }

  #isLastBusy(): boolean {
    const parts = [...this.#parts].some(({ outlasts, busy }) => outlasts === true && busy === true);
    return parts || [...this.#entries.values()].some(({ outlasts, path }) => outlasts === true && path.busy);
  }

  #isBusy(): boolean {
    const isBusy = ({ busy }: { readonly busy?: boolean | undefined }): boolean => busy === true;
    return [...this.#sessions.values(), ...this.#parts, ...this.paths.values()].some(isBusy);
  }

  /** Reading a state has its machine follow the calls at once. */
  #followCalls(): void {
    for (const { path } of this.#entries.values()) void path.link.state;
  }
}

/** Sessions that have no actor yet, as children of the root. */
function sleepersIn(sessions: ReadonlyMap<string, SupervisedSession>): Sleepers {
  return {
    *ids() {
      for (const { id, isAsleep } of sessions.values()) if (isAsleep) yield `session:${id}`;
    },
    get(child) {
      const session = child.startsWith('session:') ? sessions.get(child.slice('session:'.length)) : undefined;
      return session?.isAsleep === true ? session : undefined;
    },
  };
}
