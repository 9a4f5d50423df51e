import { observe } from '../calls/observe.ts';
import { markOfWork } from '../calls/workSignal.ts';
import { classify } from '../policy/classify.ts';
import type { FailureFacts, Outcome } from '../policy/failure.ts';
import { checkDuration, checkFunction, checkKeys, checkName } from '../policy/options.ts';
import type { TurnCallsParts } from './turnCalls.ts';
import { turnEnds } from './turnEnds.ts';
import { CallWatch } from './watch.ts';
import type { QuestionWhy } from './why.ts';

export interface QuestionOptions {
  /** How long an answer is waited for, in ms. @defaultValue 3600000, an hour */
  readonly timeoutMs?: number | undefined;
}

interface OpenQuestion {
  readonly what: string;
  readonly askedAt: number;
  readonly watch: CallWatch;
  readonly controller: AbortController;
  readonly settle: (facts: FailureFacts) => void;
}

/** What a turn asks people. A person may take longer than any watchdog would allow a machine, but not for ever. */
export class Questions {
  readonly #parts: TurnCallsParts;
  readonly #open = new Set<OpenQuestion>();
  #over = false;

  constructor(parts: TurnCallsParts) {
    this.#parts = parts;
  }

  ask<T>(
    what: string,
    ask: (signal: AbortSignal) => T | PromiseLike<T>,
    options: QuestionOptions,
  ): Promise<Outcome<T>> {
    checkName('what', what);
    checkFunction('ask', ask);
    checkKeys('options', options, ['timeoutMs']);
    const timeoutMs = checkDuration('options.timeoutMs', options.timeoutMs ?? 3_600_000);
    if (this.#over) return Promise.resolve(this.#failed(what, { ...turnEnds.ended, outcome: 'not_started' }, 0));
    return new Promise((resolve) => this.#start(what, ask, timeoutMs, resolve));
  }

  /** Ends what is still asked, and refuses new questions. */
  end(facts: FailureFacts): void {
    this.#over = true;
    for (const question of this.#open) question.settle(facts);
  }

  pending(): readonly QuestionWhy[] {
    const now = this.#parts.clock.now();
    return [...this.#open].map(({ what, askedAt, watch }) => ({
      what,
      sinceMs: now - askedAt,
      deadlineInMs: watch.due - now,
    }));
  }

  #start<T>(
    what: string,
    ask: (signal: AbortSignal) => T | PromiseLike<T>,
    timeoutMs: number,
    resolve: (outcome: Outcome<T>) => void,
  ): void {
    const { clock, deadlines, watch } = this.#parts;
    const askedAt = clock.now();
    const controller = new AbortController();
    markOfWork(controller.signal);
    const close = (): boolean => {
      if (!this.#open.delete(question)) return false;
      deadlines.remove(question.watch);
      watch.pendingCalls--;
      watch.progressed();
      return true;
    };
    const settle = (facts: FailureFacts): void => {
      if (!close()) return;
      resolve(this.#failed(what, facts, clock.now() - askedAt));
      controller.abort(new Error(facts.message));
    };
    const question: OpenQuestion = {
      what,
      askedAt,
      controller,
      settle,
      watch: new CallWatch(askedAt + timeoutMs, () => settle(unanswered(what, timeoutMs))),
    };
    this.#open.add(question);
    deadlines.set(question.watch);
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
    const { session, number, facts: telling } = this.#parts;
    const { kind, message } = facts;
    telling.tell({ type: 'session.question_failed', session, turn: number, what, kind, message, waitedMs });
    const attempts = facts.outcome === 'not_started' ? 0 : 1;
    return { ok: false, failure: { ...facts, integration: `session:${session}`, attempts, retryable: false } };
  }
}

function unanswered(what: string, timeoutMs: number): FailureFacts {
  return {
    kind: 'timeout',
    reason: 'overall_timeout',
    message: `Nobody answered within ${Math.round(timeoutMs)} ms: ${what}`,
    outcome: 'failed',
  };
}
