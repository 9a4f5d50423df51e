import { markOfWork } from '../calls/workSignal.ts';
import type { FailureFacts, Outcome } from '../policy/failure.ts';
import { checkName } from '../policy/options.ts';
import { type QuestionOptions, Questions } from './questions.ts';
import type { ToolResult } from './toolResult.ts';
import { checkToolCall, type ToolCallOptions } from './toolCallOptions.ts';
import { TurnCalls, type TurnCallsParts } from './turnCalls.ts';
import type { QuestionWhy, WatchedCall } from './why.ts';

/** What a turn is made of. */
export interface TurnParts extends TurnCallsParts {
  /** How often the message has been begun, this time included. */
  readonly delivery: number;
  /** Keeps that the message is processed; whether that is durable. */
  readonly done: () => Promise<boolean>;
}

/** One message being processed: what its handler is given. */
export class Turn {
  readonly number: number;
  readonly session: string;
  /** How often the message has been begun, this time included; above 1 its gateway stopped or died before an earlier turn ended. */
  readonly delivery: number;
  readonly #parts: TurnParts;
  readonly #calls: TurnCalls;
  readonly #questions: Questions;
  readonly #controller = new AbortController();
  #isDone = false;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    markOfWork(this.#controller.signal);
    this.#calls = new TurnCalls(parts);
    this.#questions = new Questions(parts);
    this.number = parts.number;
    this.session = parts.session;
    this.delivery = parts.delivery;
  }

  /** Aborted when the turn is to end: by its watchdog, or because the session stops. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the handler has called {@link done}. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * The message is processed, whatever the turn still does: after a stop or a crash of the gateway it is not delivered again. Without it a
   * message whose turn was cut by either is delivered again, though its handler returned normally. Never rejects.
   * @returns whether that is on disk; false as well where nothing is kept, and once the turn is over.
   */
  readonly done = (): Promise<boolean> => {
    this.#isDone = true;
    return this.#parts.done();
  };

  /** A sign of progress outside tool calls; restarts the turn's watchdog. */
  readonly touch = (): void => {
    this.#parts.watch.progressed();
  };

  /**
   * Calls a tool through an integration. Never rejects and always answers: after the watchdog's limit at the latest, with a
   * synthetic error result.
   * @throws TypeError or RangeError at once when a name or an option is wrong.
   */
  readonly tool = (
    integration: string,
    tool: string,
    input?: unknown,
    options: ToolCallOptions = {},
  ): Promise<ToolResult> => {
    checkName('integration', integration);
    checkName('tool', tool);
    checkToolCall(options);
    return new Promise((resolve) => this.#calls.start(integration, tool, input, options, resolve));
  };

  /**
   * Waits for a person: an approval, an answer. The watchdog of the turn does not count the time; the question has a deadline of its
   * own. Never rejects: no answer in time, a throw and the end of the turn are failures in the outcome.
   * @param what - what is asked, in a few words, for who looks what the session waits for.
   * @param ask - puts the question; its signal is aborted when nobody waits for the answer any more.
   * @throws TypeError or RangeError at once when an option is wrong.
   *
   * @example
   * const outcome = await turn.ask('delete 3 files?', (signal) => chat.confirm('Delete 3 files?', { signal }), { timeoutMs: 600_000 });
   */
  readonly ask = <T>(
    what: string,
    ask: (signal: AbortSignal) => T | PromiseLike<T>,
    options: QuestionOptions = {},
  ): Promise<Outcome<T>> => this.#questions.ask(what, ask, options);

  /** Asks for the operator; an event, the turn goes on. */
  readonly escalate = (reason: string): void => {
    checkName('reason', reason);
    this.#parts.facts.tell({ type: 'session.escalated', session: this.session, turn: this.number, reason });
  };

  /** The calls that are pending, and when the watchdog ends each. */
  pendingCalls(): readonly WatchedCall[] {
    return this.#calls.pending();
  }

  /** The questions that wait for a person. */
  pendingQuestions(): readonly QuestionWhy[] {
    return this.#questions.pending();
  }

  /** Ends every open call and question and refuses new ones: the turn is over, whatever its handler still does. */
  close(facts: FailureFacts): void {
    this.#calls.end(facts);
    this.#questions.end(facts);
    this.#parts.watch.stop();
  }

  /** Tells the handler to end; its open calls and questions end, and new ones are refused. */
  abort(facts: FailureFacts): void {
    this.#calls.end(facts);
    this.#questions.end(facts);
    this.#controller.abort(new Error(facts.message));
  }
}
