import { firedBy, type OrderNote } from '../policy/operatorOrder.ts';
import type { Trace } from '../calls/tracing.ts';
import { classify } from '../policy/failures/classify.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failures/failure.ts';
import { stackOf } from '../policy/failures/thrown.ts';
import type { Envelope } from './acceptance.ts';
import type { Intake } from './intake.ts';
import type { Persistence } from './persistence.ts';
import type { TurnRecovery } from './turnRecovery.ts';
import type { MessageHandler } from './sessionOptions.ts';
import type { SessionScope } from './sessionScope.ts';
import type { Kept, TurnEnd } from './sessionStore.ts';
import { SessionSpinning } from './sessionSpinning.ts';
import { SessionTurn } from './sessionTurn.ts';
import { messageId } from './mailbox.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';
import { TurnWatch } from './watch.ts';
import type { TurnUnderWay } from './turnWhy.ts';

/** After so many turns what the history no longer holds is forgotten in the store too. */
const forgetEvery = 64;

interface RunningTurn extends TurnUnderWay {
  readonly envelope: Envelope;
  /** True once the handler has the message. */
  begun: boolean;
  cutAt: number | undefined;
  /** Why it was told to end, the first time. */
  cutFor: FailureFacts | undefined;
  over: boolean;
  /** Follows it, where the host asks for telemetry. */
  readonly trace: Trace | undefined;
}

/** The turns of a session, one at a time: each has one message and one end. */
export class Turns {
  readonly #scope: SessionScope;
  readonly #onMessage: MessageHandler;
  readonly #persistence: Persistence;
  readonly #intake: Intake;
  readonly #recovery: TurnRecovery;
  #running: RunningTurn | undefined = undefined;
  #lastTurn = 0;
  /** Repetition among the tool calls; made with the first one. */
  repeats: SessionSpinning | undefined = undefined;

  constructor(
    scope: SessionScope,
    onMessage: MessageHandler,
    persistence: Persistence,
    intake: Intake,
    recovery: TurnRecovery,
  ) {
    this.#scope = scope;
    this.#onMessage = onMessage;
    this.#persistence = persistence;
    this.#intake = intake;
    this.#recovery = recovery;
  }

  get running(): TurnUnderWay | undefined {
    return this.#running;
  }

  /** Why the turn under way was told to end; undefined where it was not. */
  get cutFor(): FailureFacts | undefined {
    return this.#running?.cutFor;
  }

  isRunning(turn: number): boolean {
    return this.#running?.turn.number === turn;
  }

  /** Numbers the next turn above this one. */
  numberAbove(turn: number): void {
    this.#lastTurn = Math.max(this.#lastTurn, turn);
  }

  /** Takes the next message, unless a turn is under way. */
  start(): void {
    if (this.#running !== undefined) return;
    const scope = this.#scope;
    const persistence = this.#persistence;
    const { id: session, clock, facts, history, mailbox } = scope;
    const envelope = mailbox.take();
    if (envelope === undefined) {
      scope.dispatch({ type: 'mailbox.empty' });
      return;
    }
    const running = this.#make(envelope);
    const { number } = running.turn;
    this.#running = running;
    const { id, message } = envelope;
    const at = clock.wallNow();
    const seq = history.addMessage({ type: 'message', turn: number, id, message, at });
    const taken = envelope.kept === undefined ? undefined : persistence.ledger?.take(envelope.number, number, seq, at);
    if (number % forgetEvery === 0) persistence.forget(history.firstTurn);
    facts.tell({ type: 'session.turn_started', session, turn: number, message: id, kind: message.kind });
    scope.dispatch({ type: 'turn.started', turn: number });
    void this.#run(running, taken);
  }

  /** Tells the handler to end. */
  abort(facts: FailureFacts): void {
    const running = this.#running;
    if (running === undefined) return;
    if (!running.begun) {
      this.abandon(facts);
      return;
    }
    running.cutFor ??= facts;
    running.cutAt ??= this.#scope.clock.now();
    running.turn.abort(facts);
  }

  /** Leaves the turn behind whose handler has not ended; without one it does nothing. */
  abandon(facts: FailureFacts): void {
    if (this.#running === undefined) return;
    this.#running.cutFor ??= facts;
    this.#running.turn.abort(turnEnds.ended);
    this.#finish(this.#running, { ok: false, failure: sessionFailure(this.#scope.id, facts) });
  }

  #make(envelope: Envelope): RunningTurn {
    const session = this.#scope;
    const { clock, deadlines, watchdog, tracing } = session;
    const number = ++this.#lastTurn;
    const watch = new TurnWatch(watchdog.turnMs, clock, deadlines, () => this.stalled(number));
    const { ledger } = this.#persistence;
    const delivery = envelope.deliveries + 1;
    const named = envelope.first ?? envelope;
    const first = {
      number: named.number,
      id: envelope.first === undefined ? envelope.id : messageId(session.id, named),
    };
    const about = {
      session,
      number,
      message: envelope.id,
      first,
      delivery,
      watch,
      ledger,
      done: () => this.#done(number),
    };
    const turn = new SessionTurn(about, () => this.#repetition());
    const startedAt = clock.now();
    const { message, origin } = envelope;
    const trace = tracing?.tracer?.turnBegins({ session: session.id, turn: number, kind: message.kind, origin });
    return {
      turn,
      envelope,
      watch,
      startedAt,
      begun: false,
      cutAt: undefined,
      cutFor: undefined,
      over: false,
      trace,
    };
  }

  /** Undefined where it is not looked for. */
  #repetition(): SessionSpinning | undefined {
    if (this.#scope.spinning !== 'off')
      this.repeats ??= new SessionSpinning(this.#scope, (turn, facts) => this.end(turn, facts));
    return this.repeats;
  }

  /** The handler says that its message is processed. One that was left behind has nothing to say any more. */
  async #done(number: number): Promise<boolean> {
    const running = this.#running;
    if (running?.turn.number !== number) return false;
    return (await this.#persistence.end(running.envelope, 'done', undefined)) === 'durable';
  }

  /** @param taken - resolves when the delivery is counted; only then may the handler begin, which may be the end of this process. */
  async #run(running: RunningTurn, taken: Promise<Kept> | undefined): Promise<void> {
    if (taken !== undefined) await taken;
    const { id, clock } = this.#scope;
    const { envelope, turn } = running;
    if (taken !== undefined && turn.delivery > 1) await turn.calls.recall();
    const isUnkept = envelope.kept !== undefined && this.#persistence.isUnkept(await envelope.kept);
    if (running.over) return;
    if (isUnkept) {
      // It has no row: what is written of its number would be another message's.
      envelope.kept = undefined;
      this.abandon(turnEnds.unkept);
      return;
    }
    if (this.#scope.draining) {
      this.abandon(turnEnds.stopped);
      return;
    }
    running.begun = true;
    const { trace } = running;
    const onMessage = this.#onMessage;
    const handle = (): unknown => onMessage(running.envelope.message, running.turn);
    try {
      const value: unknown = await (trace === undefined ? handle() : trace.run(handle));
      this.#finish(running, { ok: true, value });
    } catch (error) {
      const facts = classify(error, { wallNow: clock.wallNow() });
      this.#finish(running, { ok: false, failure: sessionFailure(id, { ...facts, cause: error }) });
    }
  }

  /** The one end of a turn; a second one (a handler that comes back after its turn was left behind) changes nothing. */
  #finish(running: RunningTurn, handled: Outcome<unknown>): void {
    if (running.over) return;
    running.over = true;
    const { id: session, clock, facts, mailbox } = this.#scope;
    const { turn, envelope, startedAt, trace, cutFor } = running;
    // A handler that returns normally from a turn that was cut has not processed its message, unless it has said so.
    const isTold = cutFor?.kind === 'spinning' || (cutFor?.reason === 'closed' && !(handled.ok && turn.isDone));
    const returned: typeof handled = isTold ? { ok: false, failure: sessionFailure(session, cutFor) } : handled;
    turn.close(turnEnds.ended);
    if (this.#running === running) this.#running = undefined;
    const end = this.#endOf(running, returned);
    // The sender is not told that it is processed either, nor that what the handler waited for was aborted.
    const isCut =
      (end === 'put_back' || end === 'not_begun') &&
      envelope.kept !== undefined &&
      (returned.ok || (cutFor === turnEnds.stopped && isCancelled(returned.failure)));
    const outcome: Outcome<unknown> = isCut
      ? { ok: false, failure: sessionFailure(session, turnEnds.putBack) }
      : returned;
    this.#intake.end(envelope, end, outcome);
    const elapsedMs = clock.now() - startedAt;
    trace?.ended(outcome);
    if (!outcome.ok) this.#tellFailure(running, outcome.failure, elapsedMs);
    facts.tell({
      type: 'session.turn_ended',
      session,
      turn: turn.number,
      message: envelope.id,
      kind: envelope.message.kind,
      ok: outcome.ok,
      elapsedMs,
      error: outcome.ok ? undefined : outcome.failure.message,
    });
    this.#scope.dispatch({ type: 'turn.ended', turn: turn.number, more: mailbox.length > 0 });
  }

  /** The sender may not look at how its message ended. */
  #tellFailure({ turn, envelope, cutFor }: RunningTurn, failure: Failure, elapsedMs: number): void {
    const { kind, message: error, cause } = failure;
    if (kind === 'cancelled') return;
    // A handler that is told to end may fail in its own words: it was ended by an operator all the same.
    const reason = cutFor?.reason === 'by_operator' ? cutFor.reason : failure.reason;
    const { id: session, facts } = this.#scope;
    const [number, message, stack] = [turn.number, envelope.id, stackOf(cause)];
    facts.tell({ type: 'session.turn_failed', session, turn: number, message, kind, reason, error, stack, elapsedMs });
  }

  /** A turn that the stop cut off, or that needed what is refused by then, has not processed its message: it is delivered at the next start. */
  #endOf({ turn, begun, cutFor }: RunningTurn, outcome: Outcome<unknown>): TurnEnd {
    if (!begun && cutFor?.reason === 'closed') return 'expired';
    const isRefused = this.#scope.draining && !outcome.ok && outcome.failure.reason === 'stopped';
    if (cutFor !== turnEnds.stopped && !isRefused) return outcome.ok ? 'done' : 'failed';
    if (!begun) return 'not_begun';
    return turn.isDone ? 'done' : 'put_back';
  }

  /** The turn makes no progress: it is released. @param note - of the operator who has it released before its time. */
  stalled(turn: number, note?: OrderNote): void {
    if (this.#running === undefined || !this.isRunning(turn)) return;
    if (note !== undefined) this.#running.cutFor ??= turnFired(note);
    // It may come before its time, which must not come then.
    this.#running.watch.stop();
    this.#recovery.stalled(turn);
    this.#scope.dispatch({ type: 'turn.stalled', turn });
  }

  /** The turn has to end for a reason that others tell of: it is released in the same way. */
  end(turn: number, facts: FailureFacts): void {
    if (this.#running === undefined || !this.isRunning(turn) || this.cutFor !== undefined) return;
    this.#running.cutFor = facts;
    this.#running.watch.stop();
    this.#recovery.cancelled();
    this.#scope.dispatch({ type: 'turn.stalled', turn });
  }
}

/** Tells whether a failure is that of a handler that was told to end, and not its own: that of a stopped tool, or of an aborted signal. */
function isCancelled({ kind, reason }: Failure): boolean {
  return reason === 'stopped' || kind === 'cancelled';
}

function turnFired(note: OrderNote): FailureFacts {
  return { ...turnEnds.stalled, reason: 'by_operator', message: `The watchdog of the turn was ${firedBy(note)}` };
}
