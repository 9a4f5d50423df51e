import type { OrderResult } from '../policy/operatorOrder.ts';
import type { NewQuestion, PersonAnswer, Question, QuestionForm } from '../policy/records/question.ts';

/** A question to be put to people. */
export interface Asking extends Pick<NewQuestion, 'source' | 'asker' | 'session' | 'what' | 'detail'> {
  /** @defaultValue yes or no */
  readonly form?: QuestionForm | undefined;
  /**
   * Names its place, such as session, message, what is asked and its number: who asks again there finds the question or its answer, also after a restart.
   * @defaultValue it is another one each time
   */
  readonly place?: readonly unknown[] | undefined;
  /** Tells whether somebody asks it again where its process ends; else it ends with that. @defaultValue where it has a place */
  readonly lasts?: boolean | undefined;
  /** Longest wait, in ms, above 0. @defaultValue that of the inbox */
  readonly overallMs?: number | undefined;
  /**
   * Withdraws it; the stop of its gateway, and a signal whose reason has a `cause` with the `reason` stopped or taken_over, leave one open that lasts.
   */
  readonly signal?: AbortSignal | undefined;
  /** Told the question once it is kept: the time to say that a person is asked, and until when. Must not throw. */
  readonly kept?: ((question: Question) => void) | undefined;
  /**
   * Asks in a way of its own as well, once for each question. Undefined leaves the answer to others; a throw declines. Its signal aborts when nobody waits
   * for it any more.
   */
  readonly handler?:
    | ((question: Question, signal: AbortSignal) => Promise<Omit<PersonAnswer, 'way'> | undefined>)
    | undefined;
}

/** End of a wait for people. Only `answered` has an answer: all else is to be taken for no. */
export interface Asked {
  /**
   * `expired`: nobody answered in time; `withdrawn`: nobody asks any more; `failed`: the handler threw; `left`: the gateway stops, and the question
   * waits on; `unkept`: it could not be kept, and nobody was asked.
   */
  readonly end: 'answered' | 'expired' | 'withdrawn' | 'failed' | 'left' | 'unkept';
  /** Absent where it could not be kept. */
  readonly question?: Question | undefined;
  readonly answer?: PersonAnswer | undefined;
  /** What the handler threw. */
  readonly error?: unknown;
  /** Words for the agent that has to be told. */
  readonly text: string;
}

/** The questions of a gateway to people, each a row that outlives its process. */
export interface Inbox {
  /** Longest wait of a question that is given no other, in ms. */
  readonly overallMs: number;
  /** Puts a question, and waits for its end. Never rejects: whatever goes wrong is no answer. */
  ask(asking: Asking): Promise<Asked>;
  /** Those of a session that are waited for here. */
  waitingOf(session: string): readonly Question[];
  /** The open ones of all gateways that share the store, the oldest first, at most 1000. Never rejects. */
  open(): Promise<readonly Question[]>;
  /** Answers a question, unless somebody was faster: the result says who. Never rejects. @param id - its beginning will do. */
  answer(id: string, answer: PersonAnswer): Promise<OrderResult>;
}
