import type { Deadline } from '../calls/deadlineQueue.ts';
import { observe } from '../calls/observe.ts';
import { markOfWork } from '../calls/workSignal.ts';
import { formatDuration } from '../policy/text/duration.ts';
import { done, firedBy, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { classify } from '../policy/failures/classify.ts';
import type { FailureFacts, Outcome } from '../policy/failures/failure.ts';
import { callback, name } from '../policy/options/optionKeys.ts';
import { readOptions, readValue } from '../policy/options/readOptions.ts';
import type { TurnScope } from './sessionScope.ts';
import { questionKeys, type QuestionOptions } from './turn.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';
import type { QuestionWhy } from './why.ts';

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

  constructor(turn: TurnScope) {
    this.#turn = turn;
  }

  ask<T>(
    what: string,
    ask: (signal: AbortSignal) => T | PromiseLike<T>,
    options: QuestionOptions,
  ): Promise<Outcome<T>> {
    readValue('what', what, name);
    readValue('ask', ask, callback({ required: true }));
    const { overallMs } = readOptions('options', options, questionKeys);
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
    return [...this.#open].map(({ id: question, what, askedAt, due }) => ({
      question,
      what,
      sinceMs: now - askedAt,
      deadlineInMs: due - now,
    }));
  }

  #start<T>(
    what: string,
    ask: (signal: AbortSignal) => T | PromiseLike<T>,
    overallMs: number,
    resolve: (outcome: Outcome<T>) => void,
  ): void {
    const { session, watch } = this.#turn;
    const { clock, deadlines } = session;
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
      controller.abort(new Error(facts.message));
    };
    const question: OpenQuestion = {
      id: `turn-${this.#turn.number}:question-${++this.#asked}`,
      what,
      askedAt,
      controller,
      settle,
      due: askedAt + overallMs,
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
