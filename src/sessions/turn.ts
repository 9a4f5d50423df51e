import { choice, duration, type Given } from '../policy/options/optionKeys.ts';
import type { Outcome } from '../policy/failures/failure.ts';
import type { CallTool, StreamTool } from './toolRequest.ts';

export const questionKeys = {
  /** Time for which an answer is waited for, in ms. @defaultValue 3600000, an hour, or that of the inbox where one is on */
  overallMs: duration(),
  /** Answer that the inbox takes: yes or no, which is true or false, or a text. @defaultValue 'decision' */
  form: choice(['decision', 'text'], { default: 'decision' }),
};

/** Options of a question to a person. */
export interface QuestionOptions extends Given<typeof questionKeys> {}

/** Puts a question to a person; `question` is its id in the inbox. */
export type AskPerson<T> = (signal: AbortSignal, context?: { readonly question: string }) => T | PromiseLike<T>;

/** Message being processed, as its handler is given it. Each of its functions may be taken out of it. */
export interface Turn {
  readonly number: number;
  readonly session: string;
  /**
   * The id of the message, as `send` gave it out: the same at each delivery, also after a restart, and of a dead letter that was sent again. It serves as an idempotency key for what the
   * handler does outside of tool calls.
   */
  readonly messageId: string;
  /**
   * Number of times the message has been begun, this one included; above 1 its gateway stopped or died before an earlier turn ended. A dead
   * letter that was sent again counts on.
   */
  readonly delivery: number;
  /** Aborted when the turn is to end: by its watchdog, or because the session stops. */
  readonly signal: AbortSignal;
  /** True once the handler has called {@link done}. */
  readonly isDone: boolean;
  /**
   * The message is processed, whatever the turn still does: after a stop or a crash of the gateway it is not delivered again. Without it a
   * message whose turn was cut by either is delivered again, though its handler returned normally. Never rejects.
   * @returns whether that is on disk; false as well where nothing is kept, and once the turn is over.
   */
  readonly done: () => Promise<boolean>;
  /** A sign of progress outside tool calls; restarts the turn's watchdog. */
  readonly touch: () => void;
  /**
   * Calls a tool of an integration, which is given itself or by its name. Never rejects and always answers: after the watchdog's limit at
   * the latest, with a synthetic error result.
   * @throws TypeError or RangeError at once when a name or an option is wrong.
   *
   * @example
   * const found = await turn.tool(kb, 'search', { query: 'restart strategies' });
   * const answer = await turn.tool<Query, string[]>('kb', 'search', { query: 'restart strategies' });
   */
  readonly tool: CallTool;
  /**
   * Calls a tool whose answer is a stream, and hands it on chunk by chunk. The watchdog's limit holds for the whole of it, the time of its
   * reader included; the history keeps how many chunks there were, and not what they said.
   * @throws TypeError or RangeError at once when a name or an option is wrong.
   *
   * @example
   * const answer = turn.stream(llm, 'complete', { prompt });
   * for await (const text of answer.chunks) client.write(text);
   * const result = await answer.result;
   */
  readonly stream: StreamTool;
  /**
   * Waits for a person: an approval, an answer. The watchdog of the turn does not count the time; the question has a deadline of its
   * own. Never rejects: no answer in time, a throw and the end of the turn are failures in the outcome.
   * @param what - what is asked, in a few words, for people who look what the session waits for.
   * Where an inbox is on the question is a row of it as well, which anybody may answer. It is put once: the next delivery of its message waits on, or has
   * the answer of before, as JSON has it.
   * @param ask - puts the question; its signal is aborted when nobody waits for the answer any more. Where an inbox is on it may be left out, or answer
   * undefined: then the answer comes there.
   * @throws TypeError or RangeError at once when an option is wrong.
   *
   * @example
   * const outcome = await turn.ask('delete 3 files?', (signal) => chat.confirm('Delete 3 files?', { signal }), { overallMs: 600_000 });
   */
  readonly ask: <T = boolean | string>(
    what: string,
    ask?: AskPerson<T>,
    options?: QuestionOptions,
  ) => Promise<Outcome<T>>;
  /**
   * Counts against the session's budget what a model has used for this turn.
   * @throws TypeError or RangeError at once when a figure is wrong.
   *
   * @example
   * turn.spend({ tokens: usage.input_tokens + usage.output_tokens });
   */
  readonly spend: (costs: { readonly tokens?: number; readonly money?: number }) => void;
  /** Asks for the operator; an event, the turn goes on. */
  readonly escalate: (reason: string) => void;
}
