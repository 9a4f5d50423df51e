import type { DeadlineQueue } from '../calls/deadlineQueue.ts';
import type { SessionEmitted, SessionEvent, SessionRef } from '../machines/session.ts';
import { classify } from '../policy/classify.ts';
import type { Clock } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failure.ts';
import { checkKeys, checkName } from '../policy/options.ts';
import { type Acceptance, type Envelope, makeEnvelope, type RefusalReason } from './acceptance.ts';
import { History, type HistoryEntry } from './history.ts';
import { Keeping } from './keeping.ts';
import { Mailbox, type Message } from './mailbox.ts';
import { type CheckedSessionOptions, checkSessionOptions, type SessionOptions } from './sessionOptions.ts';
import type { MessageEnd, Recovered, SessionStore } from './sessionStore.ts';
import type { ToolPort } from './toolPort.ts';
import { Turn } from './turn.ts';
import { turnEnds } from './turnEnds.ts';
import { TurnWatch } from './watch.ts';
import { type SessionWhy, type TurnUnderWay, whyTurn } from './why.ts';

export interface SessionParts {
  readonly id: string;
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly facts: Facts;
  readonly tools: ToolPort;
  /** Whether the session will be opened on a store, and takes no message before. @defaultValue false */
  readonly kept?: boolean | undefined;
}

export interface SendOptions {
  /** Names the message: a second one of this key is refused as `duplicate`, among the session's last 10,000 with keys. */
  readonly key?: string | undefined;
}

interface RunningTurn extends TurnUnderWay {
  readonly envelope: Envelope;
  over: boolean;
}

/**
 * A session: takes one message after the other, and goes on whatever becomes of a turn. This handle outlives the incarnations of its
 * actor; the mailbox and the history are its own.
 */
export class Session {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #options: CheckedSessionOptions;
  readonly #mailbox: Mailbox<Envelope>;
  readonly #history: History;
  readonly #keeping: Keeping;
  #ref: SessionRef | undefined = undefined;
  #running: RunningTurn | undefined = undefined;
  #lastMessage = 0;
  #lastTurn = 0;
  /** When the watchdog took the turn away whose release has not been proved yet. */
  #stalledAt: number | undefined = undefined;
  /** The reason of the present episode of refusals. */
  #refusing: RefusalReason | undefined = undefined;
  #untold = 0;
  #stopped = false;

  constructor(parts: SessionParts, options: SessionOptions) {
    checkName('session', parts.id);
    this.id = parts.id;
    this.#parts = parts;
    this.#options = checkSessionOptions(options);
    this.#mailbox = new Mailbox(options.mailbox);
    this.#history = new History(this.#options.historyLimit);
    this.#keeping = new Keeping(parts.kept === true && this.#options.durable, {
      session: parts.id,
      clock: parts.clock,
      facts: parts.facts,
      lost: () => this.#lost(),
    });
  }

  /** The input of the session's machine. */
  get limits(): { readonly releaseMs: number; readonly recoveryMs: number } {
    return this.#options.watchdog;
  }

  /** `stopped` as well while its actor is not running. */
  get state(): string {
    const snapshot = this.#ref?.getSnapshot();
    return snapshot === undefined || snapshot.status !== 'active' ? 'stopped' : snapshot.value;
  }

  /** Messages waiting; the one being processed is not counted. */
  get waiting(): number {
    return this.#mailbox.length;
  }

  /** Messages, tool calls and their results, oldest first. */
  get history(): readonly HistoryEntry[] {
    return this.#history.entries;
  }

  /** Another runtime that lives owns this session: it takes no message here. */
  get heldElsewhere(): boolean {
    return this.#keeping.held;
  }

  /**
   * Puts a message into the mailbox. Of a session that is kept, it is acknowledged once it is committed.
   * @throws TypeError or RangeError at once when it is no message, its `kind` no name, or not JSON where it is to be kept.
   */
  send(message: Message, options: SendOptions = {}): Promise<Acceptance> {
    checkKeys('message', message, ['kind', 'text', 'data']);
    checkName('message.kind', message.kind);
    checkKeys('options', options, ['key']);
    if (options.key !== undefined) checkName('options.key', options.key);
    this.#keeping.check(message);
    const { opening } = this.#keeping;
    if (opening === undefined) return this.#accept(message, options.key);
    return opening.then(() => this.#accept(message, options.key));
  }

  #accept(message: Message, key: string | undefined): Promise<Acceptance> {
    if (this.#stopped) return this.#refuse(message, 'stopped');
    if (this.#keeping.held) return this.#refuse(message, 'owned_elsewhere');
    const known = key === undefined ? undefined : this.#keeping.messageOf(key);
    if (known !== undefined) {
      return Promise.resolve({ accepted: false, reason: 'duplicate', id: `${this.id}-m${known}` });
    }
    const envelope = makeEnvelope(this.id, this.#lastMessage + 1, message);
    const posted = this.#mailbox.post(envelope);
    if (posted.posted === 'refused') return this.#refuse(message, 'mailbox_full');
    this.#refusing = undefined;
    if (posted.posted === 'coalesced') {
      this.#parts.facts.tell({ type: 'session.heartbeat_dropped', session: this.id, reason: 'coalesced' });
      return accepted(posted.into);
    }
    this.#lastMessage = envelope.number;
    envelope.kept = this.#keeping.post(envelope, key);
    if (posted.dropped !== undefined) {
      this.#parts.facts.tell({ type: 'session.heartbeat_dropped', session: this.id, reason: 'drop_oldest' });
      this.#end(posted.dropped, 'dropped', { ok: false, failure: this.#failure(turnEnds.dropped) });
    }
    this.#dispatch({ type: 'message.arrived' });
    return accepted(envelope);
  }

  /** What the session waits for, and which rule ends it when. */
  why(): SessionWhy {
    const { id: session, state, waiting, heldElsewhere } = this;
    return { session, state, waiting, heldElsewhere, ...whyTurn(this.#running, this.#parts.clock.now()) };
  }

  /**
   * Takes the session for this runtime, with what an earlier one left of it. Messages that wait for this are accepted after it.
   * Until another runtime that holds it is gone it stays refused: to be tried again. Never rejects.
   */
  async open(store: SessionStore): Promise<void> {
    const { recovery, historyLimit } = this.#options;
    const recovered = await this.#keeping.open(store, { ...recovery, historyLimit });
    if (recovered !== undefined) this.#resume(recovered);
    this.#keeping.opened();
    if (this.#stopped) await this.#keeping.release();
  }

  /** Nothing is kept after all: messages that wait are accepted as such. */
  goesUnkept(): void {
    this.#keeping.opened();
  }

  #resume({ waiting, history, lastMessage, lastTurn, lastSeq }: Recovered): void {
    this.#history.restore(history, lastSeq);
    this.#lastMessage = Math.max(this.#lastMessage, lastMessage);
    this.#lastTurn = Math.max(this.#lastTurn, lastTurn);
    if (this.#stopped) return;
    this.#mailbox.restore(
      waiting.map(({ number, message, deliveries }) => makeEnvelope(this.id, number, message, deliveries)),
    );
    if (waiting.length > 0) this.#dispatch({ type: 'message.arrived' });
  }

  /** Another runtime has claimed the session: what waits here is delivered there. */
  #lost(): void {
    const failure = this.#failure(turnEnds.takenOver);
    for (const envelope of this.#mailbox.takeAll()) envelope.settle({ ok: false, failure });
    if (this.#running !== undefined) this.#abandon(this.#running, turnEnds.takenOver);
  }

  /** Sends a heartbeat: processed in order like any message, and no progress for any watchdog. */
  heartbeat(): Promise<Acceptance> {
    return this.send({ kind: 'heartbeat' });
  }

  /** Takes the actor of a new incarnation. What the last one had begun is over. */
  attach(ref: SessionRef, incarnation: number): void {
    if (this.#running !== undefined) {
      this.#tellRecoveryFailed(this.#running.turn.number);
      this.#abandon(this.#running, turnEnds.restarted);
    }
    this.#ref = ref;
    ref.on('*', (event) => this.#hear(event));
    this.#parts.facts.tell({ type: 'session.started', session: this.id, incarnation });
    if (this.#mailbox.length > 0) ref.send({ type: 'message.arrived' });
  }

  /** Refuses from now on; messages that wait end as cancelled, and stay in the store. The actor is stopped by its supervisor. */
  close(): void {
    this.#stopped = true;
    this.#keeping.opened();
    const failure = this.#failure({ ...turnEnds.stopped, outcome: 'not_started' });
    for (const envelope of this.#mailbox.takeAll()) envelope.settle({ ok: false, failure });
  }

  /** The actor is gone for good: nothing may be left pending. Resolves when the session is free for another runtime. */
  ended(): Promise<void> {
    this.close();
    if (this.#running !== undefined) this.#abandon(this.#running, turnEnds.stopped);
    return this.#keeping.release();
  }

  #refuse(message: Message, reason: RefusalReason): Promise<Acceptance> {
    if (this.#refusing === reason) this.#untold++;
    else {
      this.#refusing = reason;
      const refused = this.#untold;
      this.#untold = 0;
      this.#parts.facts.tell({ type: 'session.refused', session: this.id, kind: message.kind, reason, refused });
    }
    return Promise.resolve({ accepted: false, reason });
  }

  #hear(event: SessionEmitted): void {
    switch (event.type) {
      case 'turn.wanted':
        // Out of the machine's own step: the handler may send to this very session.
        queueMicrotask(() => this.#startTurn());
        break;
      case 'turn.aborting':
        if (this.#running?.turn.number === event.turn)
          this.#running.turn.abort(this.#stopped ? turnEnds.stopped : turnEnds.stalled);
        break;
      case 'turn.abandoned':
        if (this.#running?.turn.number === event.turn)
          this.#abandon(this.#running, this.#stopped ? turnEnds.stopped : turnEnds.stalled);
        break;
      case 'session.recovered':
        this.#recovered(event.turn);
        break;
    }
  }

  #startTurn(): void {
    if (this.#running !== undefined || this.state !== 'taking') return;
    const envelope = this.#mailbox.take();
    if (envelope === undefined) {
      this.#dispatch({ type: 'mailbox.empty' });
      return;
    }
    const { clock, deadlines, facts, tools } = this.#parts;
    const number = ++this.#lastTurn;
    const watch = new TurnWatch(this.#options.watchdog.turnMs, clock, deadlines, () => this.#stalled(number));
    const turn = new Turn({
      session: this.id,
      number,
      clock,
      deadlines,
      facts,
      tools,
      history: this.#history,
      ledger: this.#keeping.ledger,
      delivery: envelope.deliveries + 1,
      toolCallMs: this.#options.watchdog.toolCallMs,
      watch,
    });
    const running: RunningTurn = { turn, envelope, watch, startedAt: clock.now(), over: false };
    this.#running = running;
    const { id, message } = envelope;
    const at = clock.wallNow();
    const seq = this.#history.addMessage({ type: 'message', turn: number, id, message, at });
    this.#keeping.ledger?.take(envelope.number, number, seq, at);
    if (number % forgetEvery === 0) this.#keeping.ledger?.forget(this.#history.firstTurn);
    facts.tell({ type: 'session.turn_started', session: this.id, turn: number, message: id, kind: message.kind });
    this.#dispatch({ type: 'turn.started', turn: number });
    if (this.#stopped) {
      // By who heard of it: the handler must not begin any more.
      this.#finish(running, { ok: false, failure: this.#failure(turnEnds.stopped) });
      return;
    }
    this.#process(running).then(
      (value) => this.#finish(running, { ok: true, value }),
      (error: unknown) => {
        const facts = classify(error, { wallNow: clock.wallNow() });
        this.#finish(running, { ok: false, failure: this.#failure({ ...facts, cause: error }) });
      },
    );
  }

  async #process({ turn, envelope }: RunningTurn): Promise<unknown> {
    return this.#options.onMessage(envelope.message, turn);
  }

  /** The one end of a turn; a second one (a handler that comes back after its turn was released) changes nothing. */
  #finish(running: RunningTurn, outcome: Outcome<unknown>): void {
    if (running.over) return;
    running.over = true;
    const { turn, envelope, startedAt } = running;
    turn.close(turnEnds.ended);
    if (this.#running === running) this.#running = undefined;
    // A turn that was cut off by the stop has not processed its message: it is delivered at the next start.
    const cutOff = this.#stopped && !outcome.ok;
    this.#end(envelope, cutOff ? 'put_back' : outcome.ok ? 'done' : 'failed', outcome);
    const { clock, facts } = this.#parts;
    const error = outcome.ok ? undefined : outcome.failure.message;
    const elapsedMs = clock.now() - startedAt;
    const { kind } = envelope.message;
    facts.tell({
      type: 'session.turn_ended',
      session: this.id,
      turn: turn.number,
      kind,
      ok: outcome.ok,
      elapsedMs,
      error,
    });
    this.#dispatch({ type: 'turn.ended', turn: turn.number, more: this.#mailbox.length > 0 });
  }

  /** A kept message's end is told to its sender once it is committed. */
  #end(envelope: Envelope, end: MessageEnd | 'put_back', outcome: Outcome<unknown>): void {
    const kept = this.#keeping.end(envelope.number, end, outcome.ok ? undefined : outcome.failure.message);
    if (kept === undefined) envelope.settle(outcome);
    else void kept.then(() => envelope.settle(outcome));
  }

  /** Leaves a turn behind whose handler has not ended. */
  #abandon(running: RunningTurn, facts: FailureFacts): void {
    running.turn.abort(turnEnds.ended);
    this.#finish(running, { ok: false, failure: this.#failure(facts) });
  }

  #stalled(turn: number): void {
    if (this.#running?.turn.number !== turn) return;
    this.#stalledAt = this.#parts.clock.now();
    const limitMs = this.#options.watchdog.turnMs;
    this.#parts.facts.tell({ type: 'session.watchdog_fired', session: this.id, turn, rule: 'turn', limitMs });
    this.#dispatch({ type: 'turn.stalled', turn });
  }

  #recovered(turn: number): void {
    const now = this.#parts.clock.now();
    const releasedAfterMs = now - (this.#stalledAt ?? now);
    this.#stalledAt = undefined;
    this.#parts.facts.tell({ type: 'session.recovered', session: this.id, turn, releasedAfterMs });
  }

  #tellRecoveryFailed(turn: number): void {
    if (this.#stalledAt === undefined) return;
    const afterMs = this.#parts.clock.now() - this.#stalledAt;
    this.#stalledAt = undefined;
    this.#parts.facts.tell({ type: 'session.recovery_failed', session: this.id, turn, afterMs });
  }

  #dispatch(event: SessionEvent): void {
    // One that has crashed or stopped takes nothing any more, and XState would say so on the console.
    if (this.#ref?.getSnapshot().status === 'active') this.#ref.send(event);
  }

  #failure(facts: FailureFacts): Failure {
    const attempts = facts.outcome === 'not_started' ? 0 : 1;
    return { ...facts, integration: `session:${this.id}`, attempts, retryable: false };
  }
}

/** Acknowledges a message; of one that is kept, once it is committed. */
async function accepted({ id, kept, processed }: Envelope): Promise<Acceptance> {
  return { accepted: true, id, durable: kept !== undefined && (await kept) === 'durable', processed };
}

/** After so many turns what the history no longer holds is forgotten in the store too. */
const forgetEvery = 64;
