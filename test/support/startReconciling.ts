import { type CallSettings, defaultSettings } from '../../src/calls/callOptions.ts';
import type { CallPathOptions } from '../../src/calls/callPathOptions.ts';
import type { Call } from '../../src/calls/call.ts';
import { type CallWhy, whyOf } from '../../src/calls/callWhy.ts';
import type { Outcome } from '../../src/policy/failures/failure.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import type { LostAnswer } from '../../src/policy/reconcileRule.ts';
import type { Asking, AskingRule } from '../../src/policy/reconciler.ts';
import { type Deferred, deferred } from './deferred.ts';
import { type Started, startIntegration } from './startIntegration.ts';

/** One question to the rule: the test answers it. */
export interface Asked extends Deferred<unknown>, Asking {
  readonly lost: LostAnswer;
}

/** A call that was made, and what it came to. */
export interface Made {
  readonly call: Call<string, string>;
  readonly outcome: Promise<Outcome<string>>;
  /** Its outcome as of now. */
  readonly ended: () => Outcome<string> | undefined;
  /** How often its caller was told. */
  readonly times: () => number;
}

export interface Reconciling extends Started {
  readonly asked: Asked[];
  readonly rule: AskingRule;
  /** The process behind it: `gone` are those that have ended. */
  readonly processes: { current: number; gone: number };
  /** What a call waits for. */
  why(call: Call<string, string> | undefined): CallWhy | undefined;
  make(input: string, settings?: Partial<CallSettings<string, string>>): Made;
}

/** An integration whose calls have a reconcile rule. The tool of a call is what its input begins with, up to a colon. */
export function startReconciling(
  rule: Partial<AskingRule> = {},
  policy: PolicyInput = {},
  extra: Partial<CallPathOptions<string, string>> = {},
): Reconciling {
  const processes = { current: 1, gone: 0 };
  const incarnation = {
    get current() {
      return processes.current;
    },
    isGone: (number: number | undefined) => number !== undefined && number <= processes.gone,
  };
  const started = startIntegration(
    { limits: { idleMs: 5000, attemptMs: 5000, overallMs: 60_000 }, ...policy },
    undefined,
    { incarnation, toolOf: (input) => input.split(':')[0], ...extra },
  );
  const asked: Asked[] = [];
  const whole: AskingRule = {
    kind: 'ask',
    asks: 'list_payments',
    notBeforeMs: undefined,
    endsWithProcess: true,
    timeoutMs: 5000,
    attempts: 3,
    hold: 'input',
    about: (request) => ({ tool: String(request).split(':')[0], input: request }),
    answer: (result) => result,
    ask(lost, asking) {
      const question = { lost, ...asking, ...deferred<unknown>() };
      asked.push(question);
      return question.promise;
    },
    ...rule,
  };
  return {
    ...started,
    asked,
    rule: whole,
    processes,
    why: (call) => (call === undefined ? undefined : whyOf(call, started.clock)),
    make(input, settings = {}) {
      let ended: Outcome<string> | undefined;
      let times = 0;
      const promise = deferred<Outcome<string>>();
      const call = started.path.start(
        input,
        {
          ...defaultSettings<string, string>(started.path.policy, 'mutating'),
          reconcile: whole,
          session: 's1',
          ...settings,
        },
        (outcome) => {
          ended = outcome;
          times++;
          promise.resolve(outcome);
        },
      );
      return { call, outcome: promise.promise, ended: () => ended, times: () => times };
    },
  };
}
