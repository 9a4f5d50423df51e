import type { DeadlineQueue } from '../calls/deadlineQueue.ts';
import type { SessionEmitted, SessionEvent, SessionRef } from '../machines/session.ts';
import { classify } from '../policy/classify.ts';
import type { Clock } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failure.ts';
import { checkDuration, checkFunction, checkInteger, checkKeys, checkName } from '../policy/options.ts';
import { History, type HistoryEntry } from './history.ts';
import { Mailbox, type MailboxOptions, type Message } from './mailbox.ts';
import { type ToolPort, Turn } from './turn.ts';
import { TurnWatch } from './watch.ts';

/** Processes one message of a session. What it returns is the turn's value; a throw ends the turn, not the session. */
export type MessageHandler = (message: Message, turn: Turn) => unknown;

export interface SessionOptions {
  readonly onMessage: MessageHandler;
  readonly mailbox?: MailboxOptions | undefined;
  readonly watchdog?: WatchdogOptions | undefined;
  /** Entries of the history kept in memory, at least 1. @defaultValue 10000 */
  readonly historyLimit?: number | undefined;
}

/** Limits of the session's watchdog, in ms. */
export interface WatchdogOptions {
  /** A tool call pending longer than this in all is cancelled and answered by a synthetic error result. @defaultValue 300000 */
  readonly toolCallMs?: number | undefined;
  /** A turn without progress for this long outside any tool call is aborted. @defaultValue 600000 */
  readonly turnMs?: number | undefined;
  /** How long an aborted turn may take to end before it is left behind. @defaultValue 5000 */
  readonly releaseMs?: number | undefined;
  /** How long a recovery may take before the session's actor is restarted; above `releaseMs`. @defaultValue 30000 */
  readonly recoveryMs?: number | undefined;
}

/** The answer to a message. */
export type Acceptance =
  | {
      readonly accepted: true;
      readonly id: string;
      /** Whether the message survives the end of this process. */
      readonly durable: boolean;
      /** The end of the message's turn; never rejects. */
      readonly processed: Promise<Outcome<unknown>>;
    }
  | { readonly accepted: false; readonly reason: 'mailbox_full' | 'stopped' };

type RefusalReason = Extract<Acceptance, { accepted: false }>['reason'];

export interface SessionParts {
  readonly id: string;
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly facts: Facts;
  readonly tools: ToolPort;
}

interface Envelope {
  readonly id: string;
  readonly message: Message;
  readonly processed: Promise<Outcome<unknown>>;
  readonly settle: (outcome: Outcome<unknown>) => void;
}

interface RunningTurn {
  readonly turn: Turn;
  readonly envelope: Envelope;
  readonly startedAt: number;
  over: boolean;
}

/**
 * A session: takes one message after the other, and goes on whatever becomes of a turn. This handle outlives the incarnations of its
 * actor; the mailbox and the history are its own.
 */
export class Session {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #onMessage: MessageHandler;
  readonly #watchdog: Required<{ [K in keyof WatchdogOptions]: number }>;
  readonly #mailbox: Mailbox<Envelope>;
  readonly #history: History;
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
    checkKeys('options', options, ['onMessage', 'mailbox', 'watchdog', 'historyLimit']);
    checkFunction('onMessage', options.onMessage);
    this.id = parts.id;
    this.#parts = parts;
    this.#onMessage = options.onMessage;
    this.#watchdog = checkWatchdog(options.watchdog);
    this.#mailbox = new Mailbox(options.mailbox);
    this.#history = new History(checkInteger('historyLimit', options.historyLimit ?? 10_000));
  }

  /** The input of the session's machine. */
  get limits(): { readonly releaseMs: number; readonly recoveryMs: number } {
    return this.#watchdog;
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

  /**
   * Puts a message into the mailbox.
   * @throws TypeError or RangeError at once when it is no message, or its `kind` no name.
   */
  send(message: Message): Promise<Acceptance> {
    checkKeys('message', message, ['kind', 'text', 'data']);
    checkName('message.kind', message.kind);
    return Promise.resolve(this.#accept(message));
  }

  #accept(message: Message): Acceptance {
    if (this.#stopped) return this.#refuse(message, 'stopped');
    const envelope = makeEnvelope(`${this.id}-m${++this.#lastMessage}`, message);
    const posted = this.#mailbox.post(envelope);
    if (posted.posted === 'refused') return this.#refuse(message, 'mailbox_full');
    this.#refusing = undefined;
    if (posted.posted === 'coalesced') {
      this.#parts.facts.tell({ type: 'session.heartbeat_dropped', session: this.id, reason: 'coalesced' });
      return { accepted: true, id: posted.into.id, durable: false, processed: posted.into.processed };
    }
    if (posted.dropped !== undefined) {
      this.#parts.facts.tell({ type: 'session.heartbeat_dropped', session: this.id, reason: 'drop_oldest' });
      posted.dropped.settle({ ok: false, failure: this.#failure(dropped) });
    }
    this.#dispatch({ type: 'message.arrived' });
    return { accepted: true, id: envelope.id, durable: false, processed: envelope.processed };
  }

  /** Sends a heartbeat: processed in order like any message, and no progress for any watchdog. */
  heartbeat(): Promise<Acceptance> {
    return this.send({ kind: 'heartbeat' });
  }

  /** Takes the actor of a new incarnation. What the last one had begun is over. */
  attach(ref: SessionRef, incarnation: number): void {
    if (this.#running !== undefined) {
      this.#tellRecoveryFailed(this.#running.turn.number);
      this.#abandon(this.#running, restarted);
    }
    this.#ref = ref;
    ref.on('*', (event) => this.#hear(event));
    this.#parts.facts.tell({ type: 'session.started', session: this.id, incarnation });
    if (this.#mailbox.length > 0) ref.send({ type: 'message.arrived' });
  }

  /** Refuses from now on; messages that wait end as cancelled. The actor is stopped by its supervisor. */
  close(): void {
    this.#stopped = true;
    const failure = this.#failure({ ...stopped, outcome: 'not_started' });
    for (const envelope of this.#mailbox.takeAll()) envelope.settle({ ok: false, failure });
  }

  /** The actor is gone for good: nothing may be left pending. */
  ended(): void {
    this.close();
    if (this.#running !== undefined) this.#abandon(this.#running, stopped);
  }

  #refuse(message: Message, reason: RefusalReason): Acceptance {
    if (this.#refusing === reason) this.#untold++;
    else {
      this.#refusing = reason;
      const refused = this.#untold;
      this.#untold = 0;
      this.#parts.facts.tell({ type: 'session.refused', session: this.id, kind: message.kind, reason, refused });
    }
    return { accepted: false, reason };
  }

  #hear(event: SessionEmitted): void {
    switch (event.type) {
      case 'turn.wanted':
        // Out of the machine's own step: the handler may send to this very session.
        queueMicrotask(() => this.#startTurn());
        break;
      case 'turn.aborting':
        if (this.#running?.turn.number === event.turn) this.#running.turn.abort(this.#stopped ? stopped : stalled);
        break;
      case 'turn.abandoned':
        if (this.#running?.turn.number === event.turn) this.#abandon(this.#running, this.#stopped ? stopped : stalled);
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
    const watch = new TurnWatch(this.#watchdog.turnMs, clock, deadlines, () => this.#stalled(number));
    const turn = new Turn({
      session: this.id,
      number,
      clock,
      deadlines,
      facts,
      tools,
      history: this.#history,
      toolCallMs: this.#watchdog.toolCallMs,
      watch,
    });
    const running: RunningTurn = { turn, envelope, startedAt: clock.now(), over: false };
    this.#running = running;
    const { id, message } = envelope;
    this.#history.addMessage({ type: 'message', turn: number, id, message, at: clock.wallNow() });
    facts.tell({ type: 'session.turn_started', session: this.id, turn: number, message: id, kind: message.kind });
    this.#dispatch({ type: 'turn.started', turn: number });
    if (this.#stopped) {
      // By who heard of it: the handler must not begin any more.
      this.#finish(running, { ok: false, failure: this.#failure(stopped) });
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
    return this.#onMessage(envelope.message, turn);
  }

  /** The one end of a turn; a second one (a handler that comes back after its turn was released) changes nothing. */
  #finish(running: RunningTurn, outcome: Outcome<unknown>): void {
    if (running.over) return;
    running.over = true;
    const { turn, envelope, startedAt } = running;
    turn.close(endedTurn);
    if (this.#running === running) this.#running = undefined;
    envelope.settle(outcome);
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

  /** Leaves a turn behind whose handler has not ended. */
  #abandon(running: RunningTurn, facts: FailureFacts): void {
    running.turn.abort(endedTurn);
    this.#finish(running, { ok: false, failure: this.#failure(facts) });
  }

  #stalled(turn: number): void {
    if (this.#running?.turn.number !== turn) return;
    this.#stalledAt = this.#parts.clock.now();
    const limitMs = this.#watchdog.turnMs;
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

function makeEnvelope(id: string, message: Message): Envelope {
  let settle: (outcome: Outcome<unknown>) => void = () => undefined;
  const processed = new Promise<Outcome<unknown>>((resolve) => {
    settle = resolve;
  });
  return { id, message, processed, settle };
}

function checkWatchdog(options: WatchdogOptions = {}): Required<{ [K in keyof WatchdogOptions]: number }> {
  checkKeys('watchdog', options, ['toolCallMs', 'turnMs', 'releaseMs', 'recoveryMs']);
  const checked = {
    toolCallMs: checkDuration('watchdog.toolCallMs', options.toolCallMs ?? 300_000),
    turnMs: checkDuration('watchdog.turnMs', options.turnMs ?? 600_000),
    releaseMs: checkDuration('watchdog.releaseMs', options.releaseMs ?? 5_000),
    recoveryMs: checkDuration('watchdog.recoveryMs', options.recoveryMs ?? 30_000),
  };
  if (checked.recoveryMs <= checked.releaseMs) {
    throw new RangeError(
      `Expected \`watchdog.recoveryMs\` to be above \`watchdog.releaseMs\` (${checked.releaseMs}), got ${checked.recoveryMs}`,
    );
  }
  return checked;
}

const stopped: FailureFacts = {
  kind: 'cancelled',
  reason: 'stopped',
  message: 'The session stops',
  outcome: 'cancelled',
};
const stalled: FailureFacts = { kind: 'watchdog', message: 'The turn made no progress', outcome: 'unknown' };
const restarted: FailureFacts = { kind: 'crash', message: 'The session was restarted', outcome: 'unknown' };
const dropped: FailureFacts = {
  kind: 'cancelled',
  message: 'A newer heartbeat took its place',
  outcome: 'not_started',
};
const endedTurn: FailureFacts = {
  kind: 'cancelled',
  reason: 'turn_ended',
  message: 'The turn of this call has ended',
  outcome: 'cancelled',
};
