import { causeText } from './records/breakerCause.ts';
import type { FailureFacts } from './failures/failure.ts';
import type { Finding } from './reconcileMatch.ts';
import type { AskLimits, LostAnswer } from './reconcileRule.ts';

/** What a request asks for. */
export interface Asked extends Pick<LostAnswer, 'tool' | 'input'> {
  /** What equal ones share, where that tells more apart than the input does. @defaultValue the input */
  readonly exact?: unknown;
}

/** A question to a rule: the call, from the loss of its answer. */
export interface Asking {
  /** Aborted when the probe has had its time, or nobody needs its answer any more. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
}

/** A reconcile rule that asks, bound to the integration whose calls it is for. */
export interface AskingRule extends AskLimits {
  readonly kind: 'ask';
  /** Words for what is asked: `list_payments`. */
  readonly asks: string;
  /** Tells what a request asks for, as rules see it. Must not throw. */
  readonly about: (request: never) => Asked;
  /** May throw, reject, or answer nonsense. */
  readonly ask: (lost: LostAnswer, asking: Asking) => unknown;
  /** Turns what the rule gives into the answer of the call, as the integration would have answered. Must not throw. */
  readonly answer: (result: unknown) => unknown;
}

/** A reconcile rule that makes calls repeatable, bound likewise. */
export interface KeyRule {
  readonly kind: 'key';
  readonly about: (request: never) => Asked;
  /** The request with the key of its call in it; the one that was given stays as it is. Must not throw. */
  readonly keyed: (request: never, key: string) => unknown;
}

/** Rule that settles lost answers of calls, as their settings have it. */
export type Reconciler = AskingRule | KeyRule;

/** Follower of the question about one call: the ledger of its session. */
export interface ReconcileLog {
  /** Before it is asked for the first time. @returns whether the question is still ours to ask. Must not reject. */
  readonly opened: () => PromiseLike<boolean> | undefined;
  /** @param isLate - its caller had been answered before. Must not throw. */
  readonly settled: (finding: Finding, isLate: boolean) => void;
}

/** A rule found out that the call took place, and has no answer for it; or that it did not happen, or nothing. */
export function foundFacts(lost: FailureFacts, { verdict, how }: Pick<Finding, 'verdict' | 'how'>): FailureFacts {
  return { ...lost, outcome: verdict, how, ...(verdict === 'done' && { shouldRetry: false }) };
}

/**
 * Reads what a probe answered. What is no verdict, or throws when it is read, is `unknown`; a result becomes what the integration would have
 * answered. Never throws.
 */
export function findingOf(answer: unknown, rule: Pick<AskingRule, 'asks' | 'answer'>): Finding {
  try {
    return findingIn(answer, rule);
  } catch {
    return { verdict: 'unknown', how: `${rule.asks} gave no verdict` };
  }
}

function findingIn(answer: unknown, { asks, answer: answerOf }: Pick<AskingRule, 'asks' | 'answer'>): Finding {
  if (answer === 'done') return { verdict: 'done', how: `${asks} finds it` };
  if (answer === 'not_done') return { verdict: 'not_done', how: `${asks} does not find it` };
  if (isFinding(answer)) {
    const { result } = answer;
    return result === undefined ? answer : { ...answer, result: { value: answerOf(result.value) } };
  }
  if (typeof answer === 'object' && answer !== null && Object.hasOwn(answer, 'done')) {
    const { done: value, how } = answer as { readonly done: unknown; readonly how?: unknown };
    const said = typeof how === 'string' && how.trim() !== '' ? causeText(how) : `${asks} finds it`;
    return { verdict: 'done', how: said, result: { value: answerOf(value) } };
  }
  return { verdict: 'unknown', how: answer === 'unknown' ? `${asks} does not know` : `${asks} gave no verdict` };
}

const findings = new WeakSet<object>();

/** Marks what our own rules found: what a function answers is never taken for it. */
export function asFinding(finding: Finding): Finding {
  findings.add(finding);
  return finding;
}

function isFinding(answer: unknown): answer is Finding {
  return typeof answer === 'object' && answer !== null && findings.has(answer);
}
