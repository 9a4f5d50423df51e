import type { AttemptContext, CallPath, Trace } from '../../src/calls/face.ts';
import { inboundTrace } from '../wire/inboundTrace.ts';
import {
  AttemptError,
  type Failure,
  type FailureFacts,
  type Outcome,
  mayRepeat,
} from '../../src/policy/failures/face.ts';
import { type Effect, inTime } from '../../src/policy/face.ts';
import { TurnoverMap } from './turnoverMap.ts';
import { type McpAnswer, type McpRequest, fieldsOf } from '../../src/protocol/mcp/face.ts';
import { progressKey } from '../wire/requestTraits.ts';
import { AnsweredCalls } from './answeredCalls.ts';
import { isClientLimit } from './cancelReasons.ts';
import { ClientCall, givenUp } from './clientCall.ts';
import { KeptTasks } from './keptTasks.ts';
import { ClientSettings, ProxyRules } from './proxyRules.ts';
import type { CallUnderWay } from '../../src/runtime/face.ts';
import { Joins } from './joins.ts';
import type { Line } from './outlet.ts';
import { OwnListing } from './ownListing.ts';
import type { Repetition } from './repetition.ts';
import type { ProxyScope } from './proxyScope.ts';
import { ReconcileBeat } from './clientBeats.ts';
import { ToolTasks } from './toolTasks.ts';
import type { ToolView } from './toolView.ts';
import type { Question, Wire } from './wire.ts';

/** Actions of the proxy about its calls. */
export interface ClientCallsHost {
  readonly repetition: Repetition;
  /** The client's own handshake was written: what it wrote after it may follow, before the calls that wait as well. */
  shookHands(): void;
  /** Gives the client the answer of the server. */
  readonly deliver: (call: ClientCall, line: Line, answer: McpAnswer) => void;
  /** Gives the client an answer that its server gave to another call, or that was found out. @param how - it is known, in words. */
  found(call: ClientCall, answer: McpAnswer, how: string | undefined): void;
  /** Gives the client an answer of ours. @param task - that it is told of in its place. */
  refuse(call: ClientCall, failure: Failure, elapsedMs: number, task: string | undefined): void;
  readonly tools: Pick<ToolView, 'needsList' | 'judged'>;
  /** A call that was lost before anything was known of its tool is repeated now, or is not. */
  judgedLoss(call: ClientCall, facts: FailureFacts, isRepeated: boolean): void;
  /** What earlier proxies had kept is taken up until then; undefined once it is. Calls wait for it. */
  restoring(): Promise<void> | undefined;
  isOnRecord(): Promise<boolean>;
  /** Called when what is kept of lines changed, in bytes. */
  retained(bytes: number): void;
  readonly path: CallPath<ClientCall, McpAnswer>;
}

/** The requests of the client, each a call of the integration, by the ids the client gave them. */
export class ClientCalls {
  readonly #scope: ProxyScope;
  readonly #host: ClientCallsHost;
  /** By the key of the id; a client that uses one twice has several. */
  readonly #inFlight = new TurnoverMap<string, ClientCall[]>();
  readonly #rules: ProxyRules;
  readonly #joins: Joins;
  readonly #settings: ClientSettings;
  readonly #beat: ReconcileBeat;
  readonly #listing: OwnListing;
  readonly #tasks: ToolTasks;
  readonly #keptTasks: KeptTasks;
  #retained = 0;
  #initializing = 0;
  #size = 0;
  readonly #idle: (() => void)[] = [];
  readonly #leaveLasting: () => void;
  /** Handshakes in the call path. */
  readonly #handshakes = new WeakSet<object>();
  /** Given up for their silence, while nobody knows whether the server lives. */
  #silent: ClientCall[] = [];
  readonly #answered = new AnsweredCalls();
  #refusal: FailureFacts | undefined = undefined;

  constructor(scope: ProxyScope, host: ClientCallsHost) {
    this.#scope = scope;
    this.#host = host;
    const tellGivenUp = (call: ClientCall, facts: FailureFacts): void => this.#givenUp(call, facts);
    this.#listing = new OwnListing(scope.record);
    this.#tasks = new ToolTasks(scope);
    this.#leaveLasting = scope.runtime.lasting.add(() => this.#underWay());
    this.#beat = new ReconcileBeat(scope, () => this.all());
    this.#rules = new ProxyRules(scope, () => ({ path: host.path, givenUp: tellGivenUp }));
    this.#joins = new Joins(scope, this.#rules);
    this.#settings = new ClientSettings(scope, this.#rules, tellGivenUp, (call) => ({
      opened: () => {
        this.#beat.waits(call);
        return undefined;
      },
      settled: () => call.letGo(),
    }));
    this.#keptTasks = new KeptTasks(scope, host.path, this.#settings);
  }

  get size(): number {
    return this.#size;
  }

  get isInitializing(): boolean {
    return this.#initializing > 0;
  }

  /** Tells whether a call of the call path is a handshake of the client. */
  isHandshake(row: object): boolean {
    return this.#handshakes.has(row);
  }

  *all(): Iterable<ClientCall> {
    for (const calls of this.#inFlight.values()) yield* calls;
  }

  /** Has a request answered, once. */
  start(request: McpRequest, line: Uint8Array, inBatch = false, calledAs?: string): void {
    if (this.#keptTasks.answers(request)) return;
    const { clock } = this.#scope;
    const effectOf = (tool: string): Effect | undefined => this.#rules.effectOf(tool);
    const call = new ClientCall(request, line, clock.now(), effectOf, inBatch, this.#host.deliver);
    call.calledAs = calledAs;
    const others = this.#inFlight.get(request.key);
    if (others === undefined) this.#inFlight.set(request.key, [call]);
    else others.push(call);
    this.#size++;
    if (request.method === 'initialize') this.#initializing++;
    this.#retain(line.length);
    this.#host.repetition.begins(call);
    const restoring = call.tool === undefined ? undefined : this.#host.restoring();
    if (restoring === undefined) this.#begin(call);
    else
      void restoring.then(() => {
        if (!call.cancelled) return this.#begin(call);
        this.#takeOut(call);
        this.#left();
      });
  }

  #begin(call: ClientCall): void {
    let early: Outcome<McpAnswer> | undefined;
    const begin = () =>
      this.#host.path.start(call, this.#settings.of(call), (outcome) => {
        // Its row knows how it was answered.
        if (call.row === undefined) early = outcome;
        else this.#settled(call, outcome);
      });
    const trace = this.#traceOf(call);
    call.trace = trace;
    call.row = trace === undefined ? begin() : trace.run(begin);
    this.#scope.runtime.lasting.began();
    if (early !== undefined) this.#settled(call, early);
    // It equals one whose answer was lost.
    if (call.row.waiting === 'reconciling') this.#beat.waits(call);
  }

  /**
   * The client waits for an answer no longer.
   * @returns what the server is to be told about; undefined when it was not asked, or has answered.
   */
  cancel(key: string, reason: unknown): Question | undefined {
    const call = this.#inFlight.get(key)?.at(-1);
    const now = this.#scope.clock.now();
    if (call === undefined) {
      this.#keptTasks.letGo(key);
      this.#answered.cancelled(key, reason, now, this.#host.path);
      return undefined;
    }
    call.cancelled = true;
    const { question, row } = call;
    const why = typeof reason === 'string' && reason !== '' ? `: ${reason.slice(0, 200)}` : '';
    // A limit of the client's is no word on the work.
    const isLimit = isClientLimit(reason, now - call.startedAt);
    const facts: FailureFacts = {
      kind: 'cancelled',
      message: `Cancelled by the client${why}`,
      outcome: 'cancelled',
      cause: isLimit ? 'timed out' : undefined,
    };
    const failure = row === undefined ? undefined : this.#host.path.end(row, facts);
    // Others may still wait for what it had joined.
    return failure?.kept === undefined && call.joint?.isLeft !== false ? question : undefined;
  }

  /** Tells whether another attempt of a call repeats nothing: what the last one began goes on at its server, or the next one is only asked what the tool does. */
  goesOn(call: ClientCall): boolean {
    return this.#tasks.goesOn(call) || call.unheard === 'waits';
  }

  /** The server is lost. Calls of tools that it had not told of are not given up yet: the next one of the same command says what they do. */
  serverLost(): void {
    if (!this.#listing.isUnderWay) return;
    for (const call of this.all()) {
      const { tool, asTask, effect, line, question, row } = call;
      const isOpen = tool !== undefined && !asTask && line !== undefined && question?.open === true;
      const isUnheard = isOpen && (effect ?? row?.expectedEffect) === undefined && this.#rules.of(call) === undefined;
      if (isUnheard && !this.#repeats(undefined)) call.unheard = 'waits';
    }
  }

  endWaiting(facts: FailureFacts): void {
    for (const { row } of [...this.all()]) {
      if (row?.waiting === 'restart') this.#host.path.end(row, facts);
    }
  }

  /** The next call that would go to the server is answered with this in its place. */
  refuseNext(facts: FailureFacts): void {
    this.#refusal = facts;
  }

  /** Calls that fell silent since this was asked last: it is known now what became of their server. */
  takeSilent(): readonly ClientCall[] {
    return this.#silent.splice(0);
  }

  /** Nobody hears of calls that wait any more. */
  stop(): void {
    this.#beat.end();
    this.#leaveLasting();
  }

  allSettled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#size === 0) resolve();
      else this.#idle.push(resolve);
    });
  }

  operation(call: ClientCall, context: AttemptContext): Promise<McpAnswer> {
    const wire = this.#scope.wire;
    const { line } = call;
    // The client has its answer already: it came in the moment its server was lost.
    if (call.answer !== undefined) return Promise.resolve(call.answer);
    if (call.refusal !== undefined) throw new AttemptError(call.refusal);
    if (wire?.ready !== true) throw new AttemptError(notConnected);
    const open = this.#tasks.open(call);
    call.context = context;
    if (open !== undefined) return this.#tasks.follow(call, open, wire, context);
    if (line === undefined) throw new AttemptError(notConnected);
    const refusal = this.#refusal;
    if (refusal !== undefined) {
      this.#refusal = undefined;
      throw new AttemptError(refusal);
    }
    const ask = (): Promise<McpAnswer> =>
      this.#ask(call, this.#tasks.lineOf(call, line), wire, context, call.wire === wire);
    const isJudged = this.#host.tools.needsList(call);
    const next = isJudged ? () => this.#unlessHeld(call, wire, context, ask) : ask;
    return call.unheard === 'waits' ? this.#onceHeard(call, wire, context, next) : next();
  }

  /** Repeats a call that was lost if its tool is one that may be, by the word of the server that took the place of the first; else it ends as it was lost. */
  async #onceHeard(
    call: ClientCall,
    wire: Wire,
    { signal }: AttemptContext,
    ask: () => Promise<McpAnswer>,
  ): Promise<McpAnswer> {
    const { clock, settings } = this.#scope;
    const { row } = call;
    const { restartWaitMs } = settings.policy;
    await inTime(this.#listing.heardFrom(wire), { clock, signal, limitMs: restartWaitMs });
    // It waits on, where that server is lost as well.
    if (signal.aborted || this.#scope.wire !== wire) throw givenUp;
    call.unheard = 'told';
    const mayAsk = this.#repeats(row?.expectedEffect);
    const facts = row?.progress.lastFailure ?? notConnected;
    this.#host.judgedLoss(call, facts, mayAsk);
    if (!mayAsk) throw new AttemptError(facts);
    return ask();
  }

  /** Makes a call of a tool that is as it was accepted, and the one that its client means. */
  async #unlessHeld(
    call: ClientCall,
    wire: Wire,
    { signal }: AttemptContext,
    ask: () => Promise<McpAnswer>,
  ): Promise<McpAnswer> {
    const judged = await this.#host.tools.judged(call, wire).catch(() => notConnected);
    if (signal.aborted) throw givenUp;
    if (judged === undefined) return ask();
    if ('kind' in judged) throw new AttemptError(judged);
    // Its limits, its effect and its record are those of the tool that is meant.
    call.cancelled = true;
    this.start(judged[0], judged[1], call.inBatch);
    throw givenUp;
  }

  #ask(
    call: ClientCall,
    line: Uint8Array,
    wire: Wire,
    context: AttemptContext,
    again: boolean,
    alone = false,
  ): Promise<McpAnswer> {
    const asked = new Promise<McpAnswer>((resolve, reject) => {
      const { request } = call;
      const asTask = call.asTask || call.ownTask;
      if (call.tool !== undefined) this.#listing.beforeCall(wire, call.effect !== undefined);
      const token = progressKey(fieldsOf(request.params['_meta']));
      const asking = {
        id: request.id,
        key: request.key,
        line,
        token,
        meta: call.inBatch ? undefined : context.traceContext,
        addsToken: call.tool !== undefined && token === undefined && !call.asTask && !call.inBatch,
        again,
        asTask,
      };
      const question = alone ? wire.ask(call, asking) : this.#joins.ask(call, wire, asking);
      if (question === undefined) {
        reject(new AttemptError(notConnected));
        return;
      }
      call.wire = wire;
      call.question = question;
      call.settle = resolve;
      call.reject = reject;
      // Few calls have any use for these two.
      call.askAlone = call.joint && (() => void this.#ask(call, line, wire, context, true, true).then(resolve, reject));
      call.follows = !(call.ownTask || call.modern)
        ? undefined
        : (answer) => {
            const next = this.#tasks.after(call, answer);
            if (next === undefined) return false;
            const again = () => this.#ask(call, this.#tasks.lineOf(call, line), wire, context, true);
            (next === 'again' ? again() : this.#tasks.follow(call, next, wire, context)).then(resolve, reject);
            return true;
          };
      if (!this.#mayRepeat(call)) this.#release(call);
      if (request.method === 'initialize') {
        this.#handshakes.add(context.call);
        this.#host.shookHands();
      }
    });
    if (!this.#scope.settings.joins) return asked;
    // It may have its effect after its caller was answered.
    const over = (): void => this.#joins.ended(call);
    asked.then(over, over);
    return asked;
  }

  *#underWay(): Iterable<CallUnderWay> {
    for (const { row, tool, label, effect, startedAt } of this.all()) {
      if (row !== undefined)
        yield { integration: this.#scope.name, call: this.#idOf(row), tool: tool ?? label, effect, startedAt };
    }
  }

  /** As records have it. */
  #idOf({ number }: NonNullable<ClientCall['row']>): string {
    return `${this.#scope.name}-${number}`;
  }

  /** An attempt is over before its answer: the server is told, and what it may still say goes to nobody. */
  #givenUp(call: ClientCall, facts: FailureFacts): void {
    const { question, wire, request, reject } = call;
    call.question = undefined;
    const { settings, progress } = call.row ?? {};
    call.wantsLate = settings?.reconcile !== undefined && progress?.openEffect !== undefined;
    call.joint?.leave(call);
    const isLast = call.joint?.isLeft !== false;
    const isSilent = facts.kind === 'timeout' || (call.cancelled && this.#host.path.isSuspect);
    if (isSilent && this.#silent.length < mostSilent) this.#silent.push(call);
    // A handshake is never called off; the server hears from the client itself what that has called off, unless it was kept.
    const isTold = request.method === 'initialize' || (call.cancelled && facts.kept === undefined);
    if (question !== undefined && isLast) wire?.giveUp(question, isTold ? undefined : facts.message);
    if (!call.wantsLate) reject?.(givenUp);
  }

  #settled(call: ClientCall, outcome: Outcome<McpAnswer>): void {
    this.#takeOut(call);
    call.trace?.ended(outcome);
    if (call.row !== undefined) this.#scope.runtime.lasting.ended(this.#idOf(call.row));
    let telling: Promise<void> | undefined;
    if (!call.delivered && !call.cancelled) {
      call.delivered = true;
      if (outcome.ok) this.#host.found(call, outcome.value, outcome.reconciled);
      else telling = this.#refuse(call, outcome.failure);
    }
    if (!call.cancelled) this.#answered.add(call, outcome, this.#scope.clock.now());
    if (telling === undefined) this.#left();
    else void telling.then(() => this.#left());
  }

  /** Tells of a failure. That a call is kept, or that what it equals was lost, binds the next process too: it is told once that is on disk. */
  #refuse(call: ClientCall, ended: Failure): Promise<void> | undefined {
    // It was made no second time: the next server was asked about its tool only.
    const failure = call.unheard === 'told' && call.wire !== this.#scope.wire ? withoutLast(ended) : ended;
    const elapsedMs = this.#scope.clock.now() - call.startedAt;
    const task = this.#keptTasks.begin(call, failure);
    const { kept } = failure;
    const isOfLost = failure.kind === 'unavailable' && failure.outcome === 'unknown';
    if (kept !== undefined || isOfLost)
      return this.#host.isOnRecord().then((onRecord) => {
        const told = kept === undefined || onRecord ? failure : { ...failure, kept: { ...kept, onRecord } };
        this.#host.refuse(call, told, elapsedMs, task);
      });
    this.#host.refuse(call, failure, elapsedMs, task);
    return undefined;
  }

  #takeOut(call: ClientCall): void {
    const { key, method } = call.request;
    const all = this.#inFlight.get(key) ?? [];
    if (all.length > 1)
      this.#inFlight.set(
        key,
        all.filter((other) => other !== call),
      );
    else if (all[0] === call) this.#inFlight.delete(key);
    this.#joins.ended(call);
    call.joint?.leave(call);
    if (method === 'initialize') this.#initializing--;
    this.#release(call);
  }

  #left(): void {
    this.#size--;
    if (this.#size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** It belongs to what the client says in its `_meta`. */
  #traceOf({ request, tool, prompt }: ClientCall): Trace | undefined {
    const { runtime, name: integration } = this.#scope;
    const { tracer } = runtime.tracing;
    if (tracer === undefined) return undefined;
    const { id, method, params } = request;
    const meta = fieldsOf(params['_meta']);
    const from = inboundTrace((field) => meta[field]);
    const names = { integration, method, tool, prompt, requestId: String(id) };
    return tracer.requestBegins({ protocol: 'mcp', ...names, from });
  }

  #mayRepeat(call: ClientCall): boolean {
    const { effect } = call;
    const { policy, isRemote } = this.#scope.settings;
    if (policy.retry.maxAttempts === 1) return false;
    if (this.#rules.of(call) !== undefined) return true;
    // A process takes what it is written, or dies; a server elsewhere may refuse one request, and may be asked again whatever it does.
    if (isRemote) return true;
    // Anything heard of the tool by then decides.
    if (effect === undefined && call.tool !== undefined && this.#listing.isUnderWay) return true;
    return this.#repeats(effect);
  }

  /** Tells whether a call of that effect is made again after its server was lost with it. */
  #repeats(effect: Effect | undefined): boolean {
    return mayRepeat(lost, effect, this.#scope.settings.policy.retry.repeatAfter);
  }

  #release(call: ClientCall): void {
    const { line } = call;
    if (line === undefined) return;
    call.line = undefined;
    this.#retain(-line.length);
  }

  #retain(bytes: number): void {
    this.#retained += bytes;
    this.#host.retained(this.#retained);
  }
}

/** Silent calls that are told of by name, should their server turn out to hang. */
const mostSilent = 1000;

/** All that may become of a request that was written: an answer of the server, whatever it says, goes to the client. */
const lost = { kind: 'crash', outcome: 'unknown' } as const;

/** A failure, without an attempt that did not call the tool. */
const withoutLast = (failure: Failure): Failure => ({ ...failure, attempts: failure.attempts - 1 });

const notConnected: FailureFacts = {
  kind: 'crash',
  reason: 'connection_lost',
  message: 'The server is not connected',
  outcome: 'not_started',
  breaker: 'ignored',
};
