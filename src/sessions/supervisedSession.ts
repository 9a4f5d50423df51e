import { BudgetAccount } from '../calls/rates/budgetAccount.ts';
import type { Drainable, DrainOrder } from '../calls/draining.ts';
import type { SessionEmitted, SessionEvent, SessionRef } from '../machines/session.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import type { SessionLimits } from '../policy/records/flight.ts';
import { show } from '../policy/options/options.ts';
import { name } from '../policy/options/optionKeys.ts';
import { noteIn, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { readOptions, readValue } from '../policy/options/readOptions.ts';
import { readStoredName } from '../policy/options/storedName.ts';
import type { Acceptance } from './acceptance.ts';
import { DeadLetterOrders } from './deadLetterOrders.ts';
import { Intake } from './intake.ts';
import { resendPrefix } from './firstMessage.ts';
import { History, type HistoryEntry } from './history.ts';
import { ClaimAsleep, isQuiet } from './claimAsleep.ts';
import { type Claims, type Opened, Persistence, recoveryLimits } from './persistence.ts';
import { Mailbox, type Message } from './mailbox.ts';
import { closeKeys, type CloseOptions, type Ending, SessionEnd } from './sessionEnd.ts';
import { TurnRecovery } from './turnRecovery.ts';
import { type CheckedSessionOptions, checkSessionOptions, type SessionOptions } from './sessionOptions.ts';
import { messageKeys, sendKeys, type SendOptions, type Session } from './session.ts';
import type { SessionScope, SessionSurroundings } from './sessionScope.ts';
import type { Claim, Past, Recovered, RecoveryLimits, SessionStore } from './sessionStore.ts';
import { restartedBy, turnEnds } from './turnEnds.ts';
import { TurnOrders } from './turnOrders.ts';
import { Turns } from './turns.ts';
import type { QuestionPlace } from './questions.ts';
import { whySession } from './sessionWhy.ts';
import type { SessionWhy } from './why.ts';

/** A session that nobody claims again. */
const alone: Claims = { again: () => undefined, ask: () => Promise.resolve() };

/** The parts of a session that is awake. */
interface SessionParts {
  readonly scope: SessionScope;
  readonly persistence: Persistence;
  readonly intake: Intake;
  readonly recovery: TurnRecovery;
  readonly turns: Turns;
}

/**
 * A session, for the runtime it belongs to: outlives the incarnations of its actor; the mailbox and the history are its own. It is asleep, with neither parts
 * nor an actor, until something is for it: a message, an order, a question about it, or what an earlier run has left to go on with.
 */
export class SupervisedSession implements Session, Drainable {
  readonly id: string;
  readonly #host: SessionSurroundings;
  readonly #options: CheckedSessionOptions;
  /** Made when they are needed first. */
  #made: SessionParts | undefined = undefined;
  #ref: SessionRef | undefined = undefined;
  #end: SessionEnd | undefined = undefined;
  /** Time when something happened last, in monotonic ms. */
  #usedAt: number;
  #stopped = false;
  /** Note of who has it restarted, until that is done. */
  #restartedBy: OrderNote | undefined = undefined;
  #drain: DrainOrder | undefined = undefined;
  readonly #asleep = new ClaimAsleep();
  #isUnkept = false;
  #hasFailedStart = false;

  /** @param id - of one of very many, which share their surroundings. @defaultValue that of these */
  constructor(host: SessionSurroundings, options: SessionOptions, id = host.id) {
    this.id = readValue('session', id, name);
    this.#host = host;
    this.#options = checkSessionOptions(options);
    this.#usedAt = host.clock.now();
    // Its account is listed from now on.
    if (this.#options.budget !== undefined) this.#make();
    if (this.#options.idleCloseMs !== undefined) this.#watchIdle(this.#options.idleCloseMs);
  }

  get #parts(): SessionParts {
    return this.#made ?? this.#make();
  }

  #make(): SessionParts {
    const { id } = this;
    const { clock, deadlines, facts, tools, tracing, inbox, budgets, clean = (text) => text } = this.#host;
    const { watchdog, historyLimit, spinning, budget, mailbox, onMessage } = this.#options;
    const scope: SessionScope = {
      ...{ id, clock, deadlines, facts, tools, tracing, inbox, clean, watchdog, historyLimit, spinning },
      budget: budget && budgets && new BudgetAccount(`session:${id}`, budget, budgets),
      mailbox: new Mailbox(mailbox),
      history: new History(historyLimit),
      draining: this.#stopped || this.#drain !== undefined,
      dispatch: (event) => this.#dispatch(event),
    };
    const persistence = new Persistence(this.#isKeptHere, scope, {
      claimed: (recovered) => this.#resume(recovered),
      recalled: (past) => this.#recall(past),
      lost: () => this.#lost(),
    });
    const intake = new Intake(scope, persistence);
    const recovery = new TurnRecovery(scope);
    const turns = new Turns(scope, onMessage, persistence, intake, recovery);
    this.#made = { scope, persistence, intake, recovery, turns };
    const made = this.#asleep.take();
    if (made !== undefined) {
      const { mail } = made.opened.store;
      persistence.wake(made.opened, made.claim);
      mail?.serve(id, intake.mailBy(mail));
    } else if (this.#stopped) persistence.leave();
    if (this.#hasFailedStart) intake.suspend();
    if (scope.draining) intake.close();
    return this.#made;
  }

  get #isKeptHere(): boolean {
    return this.#host.kept === true && this.#options.durable && !this.#isUnkept;
  }

  /** True while it has no actor, and gets one when something is for it. */
  get isAsleep(): boolean {
    const { wakes, kept } = this.#host;
    return wakes !== undefined && kept === true && this.#options.durable && this.#ref === undefined && !this.#stopped;
  }

  /** It is to be claimed with others while it sleeps; {@link claimed} is told what came of it. @returns what may be recovered; undefined where it is awake. */
  claiming(): RecoveryLimits | undefined {
    if (!this.isAsleep || this.#made !== undefined || !this.unclaimed) return undefined;
    this.#asleep.isAsked = true;
    return recoveryLimits(this.id, this.#host, this.#options, 0);
  }

  /** Takes a claim that was asked for while it slept, and sleeps on where nothing has to go on. Never rejects. */
  async claimed(opened: Opened, claim: Claim | undefined): Promise<void> {
    this.#asleep.isAsked = false;
    if (!isQuiet(claim) || this.#made !== undefined || this.#stopped)
      return this.open(opened.store, opened.claims, { claim });
    this.#asleep.keep(opened, claim);
    const { handsOver, mail } = opened.store;
    mail?.serve(this.id, { receive: (mails) => this.#parts.intake.mailBy(mail).receive(mails) });
    if (handsOver === true) claim.ledger.watch?.(() => void this.#parts);
  }

  /** The input of the session's machine. */
  get limits(): SessionLimits {
    return this.#options.watchdog;
  }

  get state(): string {
    const snapshot = this.#ref?.getSnapshot();
    const value = snapshot?.status === 'active' ? snapshot.value : this.#isUp ? 'idle' : 'stopped';
    return value === 'idle' && this.#made?.persistence.recovering !== undefined ? 'recovering' : value;
  }

  get waiting(): number {
    const { scope, persistence } = this.#made ?? {};
    return (scope?.mailbox.length ?? 0) + (persistence?.recovering?.waiting ?? 0);
  }

  /** For how long its oldest message waits, in ms; 0 where none does. */
  get oldestWaitMs(): number {
    const oldest = this.#made?.scope.mailbox.oldest;
    return oldest === undefined ? 0 : this.#host.clock.now() - oldest.acceptedAt;
  }

  get history(): readonly HistoryEntry[] {
    this.#parts.persistence.recall();
    return this.#parts.scope.history.entries;
  }

  get heldElsewhere(): boolean {
    return this.#made?.persistence.held === true;
  }

  knows(key: string): boolean {
    this.#parts.persistence.recall();
    return this.#parts.persistence.known(key) !== undefined;
  }

  /** Resolves when it is known whose it is and what is kept of it; undefined once it is. */
  get opening(): Promise<void> | undefined {
    return this.#asleep.isMade ? undefined : this.#parts.persistence.opening;
  }

  /** True while the session is to be kept and is not this runtime's: to be opened some time. */
  get unclaimed(): boolean {
    if (this.#asleep.isAsked) return false;
    return this.#made?.persistence.unclaimed ?? (this.#isKeptHere && !this.#asleep.isMade && !this.#stopped);
  }

  send(message: Message, options: SendOptions = {}): Promise<Acceptance> {
    readOptions('message', message, messageKeys);
    readOptions('options', options, sendKeys);
    if (options.key !== undefined) readStoredName('options.key', options.key);
    if (options.key?.startsWith(resendPrefix) === true)
      throw new RangeError(`Expected \`options.key\` not to begin with \`${resendPrefix}\`, got ${show(options.key)}`);
    this.#parts.persistence.check(message);
    if (this.#ref === undefined) this.#host.sent?.(this.id);
    this.used();
    const admit = (): Promise<Acceptance> => this.#parts.intake.send(message, options.key);
    if (this.#end?.isOwn !== true) return admit();
    // Nobody has ended it but its gateway: who sends need not know.
    return this.#end.ended.then(() => this.#host.named?.(this.id)?.send(message, options) ?? admit());
  }

  why(): SessionWhy {
    const why = this.#plainWhy();
    return this.#host.shown?.(why) ?? why;
  }

  /** Where its turn is, for questions that are asked in it. */
  get place(): QuestionPlace | undefined {
    return this.#made?.turns.running?.turn.questions.place;
  }

  /** The rule or the pending call that is shown so; anything else means itself. */
  #meant(shownId: string): string {
    if (this.#host.shown === undefined) return shownId;
    const why = this.#plainWhy();
    const { rules, calls } = this.#host.shown(why);
    const rule = why.rules[rules.findIndex(({ id }) => id === shownId)];
    return rule?.id ?? why.calls[calls.findIndex(({ call }) => call === shownId)]?.call ?? shownId;
  }

  #plainWhy(): SessionWhy {
    return whySession(this, this.#parts, { stopped: this.#stopped, order: this.#drain });
  }

  fire(rule: string, note: OrderNote = {}): OrderResult {
    readValue('rule', rule, name);
    return this.#orders.fire(this.#meant(rule), noteIn(note));
  }

  stopRetrying(call: string, note: OrderNote = {}): OrderResult {
    readValue('call', call, name);
    return this.#orders.stopRetrying(this.#meant(call), noteIn(note));
  }

  /** Has the repetition of {@link why} refused from now on, or counted anew. @param id - its id there. */
  repetition(order: 'hold' | 'let_go_on', id: string, note: OrderNote = {}): OrderResult {
    return this.#orders.repetition(order, id, note);
  }

  sendAgain(message: string, note: OrderNote = {}): Promise<OrderResult> {
    readValue('message', message, name);
    return this.#letters.sendAgain(message, noteIn(note));
  }

  drop(message: string, note: OrderNote = {}): Promise<OrderResult> {
    readValue('message', message, name);
    return this.#letters.drop(message, noteIn(note));
  }

  close(options: CloseOptions = {}): Promise<OrderResult> {
    const { reason, by, drainMs } = readOptions('options', options, closeKeys);
    const { why, ...note } = noteIn({ by, why: reason });
    return this.letGo({ because: 'closed', reason: why, drainMs, ...note });
  }

  /** Ends the session here, once. Never rejects. */
  async letGo(ending: Ending): Promise<OrderResult> {
    if (this.#end === undefined) {
      if (this.state === 'stopped' && this.#ref === undefined)
        return notDone('Its gateway has not started: there is nothing to close.');
      if (this.#parts.scope.draining) return notDone('Its gateway stops.');
      if (this.#parts.persistence.settling !== undefined)
        return notDone('It finds out what became of calls of an earlier process: try again in a moment.');
    }
    const left = async (): Promise<void> => this.#host.left?.(this.id);
    const { scope, persistence, intake, turns } = this.#parts;
    this.#end ??= new SessionEnd(ending, scope, persistence, intake, turns, left);
    return this.#end.ended;
  }

  /** Something was asked of it: it is not idle from now on. */
  used(): void {
    this.#usedAt = this.#host.clock.now();
  }

  /** For how long nothing has happened in it, in ms; undefined while something is under way or waited for, a kept call and a question to people included, or it is let go of. */
  get idleMs(): number | undefined {
    const isAwaited = this.#made?.intake.isAwaited === true || this.opening !== undefined;
    if (this.state !== 'idle' || this.waiting > 0 || isAwaited || this.#end !== undefined) return undefined;
    const { inbox, tools, clock } = this.#host;
    const isAsking = inbox !== undefined && inbox.waitingOf(this.id).length > 0;
    return isAsking || tools.keeps(this.id) ? undefined : clock.now() - this.#usedAt;
  }

  /** True while all that there is of it is on record. */
  get isKept(): boolean {
    return this.#asleep.isMade || this.#made?.persistence.ledger !== undefined || this.heldElsewhere;
  }

  #watchIdle(limitMs: number): void {
    const { deadlines } = this.#host;
    const deadline = {
      due: this.#usedAt + limitMs,
      heapIndex: -1,
      expire: (now: number): void => {
        if (this.#end !== undefined || this.#stopped) return;
        const { idleMs = 0 } = this;
        if (idleMs >= limitMs) void this.letGo({ because: 'idle' });
        else deadlines.setLoose(Object.assign(deadline, { due: now + limitMs - idleMs }));
      },
    };
    deadlines.setLoose(deadline);
  }

  cancel(call?: string, note: OrderNote = {}): OrderResult {
    if (call !== undefined) readValue('call', call, name);
    return this.#orders.cancel(call && this.#meant(call), noteIn(note));
  }

  /**
   * Claims the session for this runtime, with what an earlier one left of it. A sender that waits for this is answered after it. While the
   * session is {@link unclaimed} its owner tries again. The session refuses messages where another runtime holds it or, on a store of
   * several machines, may hold it; otherwise it takes them without keeping them. Never rejects.
   * @param claims - who claims it again. Without one nobody does.
   * @param made - what came of a claim that was made while it slept. @defaultValue it is claimed now
   */
  async open(store: SessionStore, claims: Claims = alone, made?: { readonly claim: Claim | undefined }): Promise<void> {
    if (this.#asleep.isAsked) return;
    const { persistence, intake } = this.#parts;
    const { mail } = store;
    const receiver = mail && intake.mailBy(mail);
    const limits = recoveryLimits(this.id, this.#host, this.#options, claims.answered?.(this.id) ?? 0);
    await persistence.open({ store, claims }, limits, made);
    if (receiver !== undefined && persistence.ledger !== undefined) mail?.serve(this.id, receiver);
    const { settling } = persistence;
    // Its start waits for none of that; its messages do.
    if (settling !== undefined && !this.#stopped) void settling.then(() => this.#hasOpened());
    else await this.#hasOpened();
  }

  async #hasOpened(): Promise<void> {
    if (this.#parts.persistence.unclaimed && !this.#parts.persistence.held) this.#numberByTime();
    this.#parts.persistence.opened();
    if (this.#stopped) await this.#parts.persistence.release();
    else this.#handOver();
  }

  /** The start of its runtime has failed: messages are refused until {@link startsAgain}. */
  startFailed(): void {
    this.#hasFailedStart = true;
    this.#made?.intake.suspend();
  }

  /** The start is tried again: messages wait for it. */
  startsAgain(): void {
    this.#hasFailedStart = false;
    this.#made?.intake.resume();
  }

  /** Nothing is kept after all: messages that wait are accepted as such. */
  goesUnkept(): void {
    this.#isUnkept = true;
    this.#made?.persistence.goUnkept();
  }

  /** Numbers the next turn above this one: a replay begins where its record does. */
  numberAbove(turn: number): void {
    this.#parts.turns.numberAbove(turn);
  }

  /** Numbers above all that can be in the store, which cannot be read, so that no call or message is taken for another. */
  #numberByTime(): void {
    const number = Math.floor(this.#parts.scope.clock.wallNow() / 1000);
    this.#parts.turns.numberAbove(number);
    this.#parts.intake.numberAbove(number);
  }

  #resume({ waiting }: Recovered): void {
    // Messages that have waited here, or were processed without being kept, are numbered after what was kept.
    const isNew = this.#parts.scope.mailbox.length === 0 && this.#parts.scope.history.firstTurn === 0;
    if (waiting.length > 0 || !isNew) this.#parts.persistence.goOn();
    this.#parts.intake.restore(waiting);
  }

  #recall(past: Past | undefined): void {
    if (past === undefined) {
      this.#numberByTime();
      return;
    }
    this.#parts.scope.history.restore(past.history, past.lastTurn, past.lastSeq);
    this.#parts.turns.repeats = undefined;
    this.#parts.turns.numberAbove(past.lastTurn);
    this.#parts.intake.numberAbove(past.lastMessage);
  }

  /** Another runtime has claimed the session: what waits here is delivered there. */
  #lost(): void {
    this.#parts.intake.lose();
    this.#parts.turns.abandon(turnEnds.takenOver);
  }

  heartbeat(): Promise<Acceptance> {
    return this.send({ kind: 'heartbeat' });
  }

  /** Made for each order: they are few, and very many sessions have none. */
  get #orders(): TurnOrders {
    return new TurnOrders(this.#parts.scope, this.#parts.turns, () => this.#parts.turns.abandon(this.#endingFor));
  }

  get #letters(): DeadLetterOrders {
    return new DeadLetterOrders(this.#parts.scope, this.#parts.persistence, this.#parts.intake);
  }

  /** Takes the actor of a new incarnation. What the last one had begun is over. */
  attach(ref: SessionRef, incarnation: number): void {
    const { scope, recovery, turns } = this.#parts;
    if (turns.running !== undefined) recovery.failed(turns.running.turn.number);
    turns.abandon(turnEnds.restarted);
    this.#restartedBy = undefined;
    this.#ref = ref;
    ref.on('*', (event) => this.#hear(event));
    scope.facts.tell({ type: 'session.started', session: this.id, incarnation });
    if (scope.mailbox.length > 0) ref.send({ type: 'message.arrived' });
  }

  /** True while a turn is under way. */
  get busy(): boolean {
    return this.#made?.turns.running !== undefined;
  }

  /** Refuses from now on like {@link stop}, but the turn whose handler has begun may end. */
  drain(order: DrainOrder): void {
    this.#drain = order;
    this.#close();
  }

  /**
   * Refuses from now on; messages that wait end here, and stay in the store, as does the one whose turn is cut. The actor is stopped
   * by its supervisor.
   */
  stop(): void {
    this.#stopped = true;
    // Before anything that the turn uses is stopped: what fails of it by then fails for that reason.
    this.#close(({ turns }) => turns.abort(turnEnds.stopped));
  }

  /** Takes nothing new. One that sleeps has nothing to end: it is given up where another runtime may have it. */
  #close(cut?: (parts: SessionParts) => void): void {
    if (this.#asleep.giveUp()) this.#isUnkept = true;
    if (this.#made === undefined) return;
    this.#made.scope.draining = true;
    this.#made.intake.close();
    cut?.(this.#made);
    this.#handOver();
  }

  /** Hands over a session that stops, once nothing is under way: another runtime may have it. */
  #handOver(): void {
    if (this.#made?.scope.draining === true && !this.busy) this.#made.persistence.handOver();
  }

  /** Gives the session back for another runtime to take, unless something of it is under way or waits, or it ends here. Tells of it. */
  giveBack(to: string): void {
    const { scope, intake, persistence } = this.#parts;
    const isIdle = !this.busy && this.waiting === 0 && !intake.isTaking;
    if (!isIdle || scope.draining || !persistence.giveBack()) return;
    scope.facts.tell({ type: 'session.given_back', session: this.id, to });
  }

  /** The actor is gone for good: nothing may be left pending. Another runtime may have the session once this one has left the store. */
  ended(): void {
    this.stop();
    this.#asleep.take();
    this.#made?.turns.abandon(turnEnds.stopped);
    this.#made?.persistence.leave();
  }

  /** An operator restarts the session: the turn that ends of it is told so. To be called before its actor is told. */
  restarting(note: OrderNote): void {
    this.#restartedBy = note;
  }

  /** Why the turn under way is told to end, or left behind. */
  get #endingFor(): FailureFacts {
    if (this.#stopped) return turnEnds.stopped;
    const { cutFor } = this.#parts.turns;
    if (cutFor !== undefined) return cutFor;
    // Its machine is told to close by a restart as well; only a watchdog releases.
    if (this.state !== 'closing') return turnEnds.stalled;
    return this.#restartedBy === undefined ? turnEnds.restartedByHand : restartedBy(this.#restartedBy);
  }

  #hear(event: SessionEmitted): void {
    switch (event.type) {
      case 'turn.wanted':
        // Out of the machine's own step: the handler may send to this very session.
        queueMicrotask(() => {
          if (this.state === 'taking') this.#parts.turns.start();
        });
        break;
      case 'turn.aborting':
        if (this.#parts.turns.isRunning(event.turn)) this.#parts.turns.abort(this.#endingFor);
        break;
      case 'turn.abandoned':
        if (this.#parts.turns.isRunning(event.turn)) this.#parts.turns.abandon(this.#endingFor);
        break;
      case 'session.recovered':
        this.#parts.recovery.recovered(event.turn);
        break;
    }
  }

  #dispatch(event: SessionEvent): void {
    // It is told of its messages as it starts.
    if (event.type === 'message.arrived' && this.#isUp) this.wake();
    // A machine that has crashed or stopped takes nothing any more, and XState would say so on the console.
    else if (this.#ref?.getSnapshot().status === 'active') this.#ref.send(event);
    if (event.type !== 'turn.ended') return;
    this.used();
    this.#end?.turnEnded();
    this.#handOver();
    this.#drain?.ended();
  }

  /** Has its actor started, where it is asleep. */
  wake(): void {
    if (this.#isUp) this.#host.wakes?.(this.id);
  }

  /** True while it is asleep in a runtime that runs. */
  get #isUp(): boolean {
    return this.isAsleep && this.#host.isRunning?.() === true;
  }
}
