import type { Deadline } from '../calls/deadlineQueue.ts';
import { observe } from '../calls/observe.ts';
import { markOfWork } from '../calls/workSignal.ts';
import { formatDuration } from '../policy/text/duration.ts';
import { done, firedBy, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { classify } from '../policy/failures/classify.ts';
import { AttemptError, type FailureFacts, type Outcome } from '../policy/failures/failure.ts';
import { canonicalJson } from '../policy/text/canonicalJson.ts';
import { callback, name } from '../policy/options/optionKeys.ts';
import { readOptions, readValue } from '../policy/options/readOptions.ts';
import type { TurnScope } from './sessionScope.ts';
import type { Inbox } from './inbox.ts';
import { type AskPerson, questionKeys, type QuestionOptions } from './turn.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';
import type { QuestionWhy } from './why.ts';

/** Place of a turn in which questions are asked. */
export interface QuestionPlace {
  /** The session and its message: the same for each delivery. */
  readonly of: readonly [session: string, message: string];
  /** Numbers a question among those of this turn that are equal to it, from 1. */
  count(this: void, what: unknown): number;
  /** Has the watchdog of the turn wait for a person. @returns how the wait ends. */
  hold(this: void): () => void;
}

interface OpenQuestion extends Deadline {
  readonly id: string;
  readonly what: string;
  readonly askedAt: number;
  readonly controller: AbortController;
  readonly settle: (facts: FailureFacts) => void;
}

/** Questions of a turn to people. A person may take longer than any watchdog would allow a machine, but not for ever. */
export class Questions {
  readonly #turn: TurnScope;
  readonly #open = new Set<OpenQuestion>();
  #over = false;
  #asked = 0;
  readonly #counts = new Map<string, number>();

  constructor(turn: TurnScope) {
    this.#turn = turn;
  }

  get place(): QuestionPlace {
    const { session, first, watch } = this.#turn;
    return {
      of: [session.id, first.id],
      count: (what) => {
        const key = canonicalJson(what) ?? '';
        const number = (this.#counts.get(key) ?? 0) + 1;
        this.#counts.set(key, number);
        return number;
      },
      hold: () => {
        watch.pendingCalls++;
        return () => {
          watch.pendingCalls--;
          watch.progressed(session.clock.now());
        };
      },
    };
  }

  ask<T>(what: string, given: AskPerson<T> | undefined, options: QuestionOptions): Promise<Outcome<T>> {
    readValue('what', what, name);
    const { inbox } = this.#turn.session;
    if (inbox === undefined || given !== undefined) readValue('ask', given, callback({ required: true }));
    const { overallMs = inbox?.overallMs ?? 3_600_000, form } = readOptions('options', options, questionKeys);
    const ask = inbox === undefined ? (given as AskPerson<T>) : this.#inInbox(inbox, { what, overallMs, form }, given);
    if (this.#over) return Promise.resolve(this.#failed(what, { ...turnEnds.ended, outcome: 'not_started' }, 0));
    return new Promise((resolve) => this.#start(what, ask, overallMs, resolve));
  }

  /** Ends what is still asked, and refuses new questions. */
  end(facts: FailureFacts): void {
    this.#over = true;
    for (const question of this.#open) question.settle(facts);
  }

  /** Ends the wait for an answer as if its time had come. @param announce - told before. */
  fire(id: string, announce: () => void, note: OrderNote): OrderResult {
    const question = [...this.#open].find((each) => each.id === id);
    if (question === undefined) return notDone('The question was answered.');
    announce();
    question.settle(givenUp(question.what, note));
    return done;
  }

  pending(): readonly QuestionWhy[] {
    const now = this.#turn.session.clock.now();
    return [...this.#open].map(({ id: question, what, askedAt, due }) => {
      return { question, what, sinceMs: now - askedAt, deadlineInMs: due - now };
    });
  }

  /** Puts a question in the inbox as well, for whoever answers first. What it gives throws AttemptError without an answer, or what `ask` throws. */
  #inInbox<T>(
    inbox: Inbox,
    { what, overallMs, form }: { what: string; overallMs: number; form: 'decision' | 'text' },
    ask: AskPerson<T> | undefined,
  ): AskPerson<T> {
    return async (signal) => {
      const { id: session } = this.#turn.session;
      const { end, answer, error, text } = await inbox.ask({
        ...{ source: 'ask', asker: session, session, what, overallMs, form: { is: form }, signal },
        handler:
          ask &&
          (async ({ id }, handlerSignal) => {
            const value = await ask(handlerSignal, { question: id });
            return value === undefined ? undefined : { decision: 'accept', value };
          }),
      });
      if (end === 'unkept' && ask !== undefined) return ask(signal);
      if (end === 'failed') throw error;
      if (answer !== undefined) return (answer.value ?? answer.decision === 'accept') as T;
      if (end === 'left') throw new AttemptError(turnEnds.stopped);
      throw new AttemptError({ ...unanswered(what, overallMs), message: `${text.slice(0, -1)}: ${what}` });
    };
  }

  #start<T>(what: string, ask: AskPerson<T>, overallMs: number, resolve: (outcome: Outcome<T>) => void): void {
    const { session, watch } = this.#turn;
    const { clock, deadlines, inbox } = session;
    const askedAt = clock.now();
    const controller = new AbortController();
    markOfWork(controller.signal);
    const close = (): boolean => {
      if (!this.#open.delete(question)) return false;
      deadlines.remove(question);
      watch.pendingCalls--;
      watch.progressed(clock.now());
      return true;
    };
    const settle = (facts: FailureFacts): void => {
      if (!close()) return;
      resolve(this.#failed(what, facts, clock.now() - askedAt));
      controller.abort(new Error(facts.message, { cause: facts }));
    };
    const question: OpenQuestion = {
      id: `turn-${this.#turn.number}:question-${++this.#asked}`,
      what,
      askedAt,
      controller,
      settle,
      // The inbox says how it ended, and has a little longer for that.
      due: askedAt + overallMs + (inbox === undefined ? 0 : 5000),
      heapIndex: -1,
      expire: () => settle(unanswered(what, overallMs)),
    };
    this.#open.add(question);
    deadlines.set(question);
    watch.pendingCalls++;
    observe(
      () => ask(controller.signal),
      (value) => {
        if (close()) resolve({ ok: true, value });
      },
      (error) => settle({ ...classify(error, { wallNow: clock.wallNow() }), cause: error }),
    );
  }

  #failed(what: string, facts: FailureFacts, waitedMs: number): Extract<Outcome<never>, { ok: false }> {
    const { number, session: scope } = this.#turn;
    const { id: session, facts: telling } = scope;
    const { kind, message } = facts;
    telling.tell({ type: 'session.question_failed', session, turn: number, what, kind, message, waitedMs });
    return { ok: false, failure: sessionFailure(session, facts) };
  }
}

function unanswered(what: string, overallMs: number): FailureFacts {
  return {
    kind: 'timeout',
    reason: 'overall_timeout',
    message: `Nobody answered within ${formatDuration(overallMs)}: ${what}`,
    outcome: 'failed',
  };
}

function givenUp(what: string, note: OrderNote): FailureFacts {
  const message = `Nobody answered until its limit was ${firedBy(note)}: ${what}`;
  return { kind: 'timeout', reason: 'by_operator', message, outcome: 'failed' };
}
