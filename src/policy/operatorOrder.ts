import { causeText } from './records/breakerCause.ts';
import type { Standing } from './budget.ts';
import { checkText } from './options/options.ts';

/** Author of an order, and the reason; each is one line of at most 300 characters. */
export interface OrderNote {
  readonly by?: string | undefined;
  readonly why?: string | undefined;
}

/** Outcome of an order. */
export interface OrderResult {
  readonly ok: boolean;
  /** A sentence for people. */
  readonly text: string;
  /** Why an answer to a question was not taken: there is none of this id alone, or it is no answer to it. @defaultValue for another reason */
  readonly because?: 'unknown' | 'unfit' | undefined;
}

/** Outcome of an order about a budget. */
export interface BudgetAnswer extends OrderResult {
  /** Its limits as they stand. */
  readonly limits?: readonly Standing[] | undefined;
}

/** A note with each of its texts on one line. @throws TypeError for one that is no text. */
export function noteIn(params: unknown): OrderNote {
  const { by, why } = (params ?? {}) as Partial<Record<keyof OrderNote, unknown>>;
  return {
    ...(by !== undefined && { by: causeText(checkText('by', by)) }),
    ...(why !== undefined && { why: causeText(checkText('why', why)) }),
  };
}

/** Says whose order it was that ended something before its time, and why, for the failure that comes of it. */
export function firedBy({ by, why }: OrderNote): string {
  return `fired by an operator${by === undefined ? '' : ` (${by})`}${why === undefined ? '' : `: ${why}`}`;
}

/** An order that was carried out. */
export const done: OrderResult = { ok: true, text: 'Done.' };

/** Says what was done, in a sentence, where who did it says no more than that. */
export function said(result: OrderResult, sentence: string): OrderResult {
  return result.ok && result.text === done.text ? { ok: true, text: sentence } : result;
}

/** An order that was not carried out. @param text - one sentence that says why. */
export const notDone = (text: string, because?: OrderResult['because']): OrderResult => ({
  ok: false,
  text,
  ...(because !== undefined && { because }),
});
