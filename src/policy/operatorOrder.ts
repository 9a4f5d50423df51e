import { causeText } from './breakerCause.ts';
import { checkText } from './options.ts';

/** Who gives an order, and why; each is one line of at most 300 characters. */
export interface OrderNote {
  readonly by?: string | undefined;
  readonly why?: string | undefined;
}

/** What became of an order. */
export interface OrderResult {
  readonly ok: boolean;
  /** One sentence for people. */
  readonly text: string;
}

/** A note with each of its texts on one line. @throws TypeError for one that is no text. */
export function noteIn(params: unknown): OrderNote {
  const { by, why } = (params ?? {}) as Partial<Record<keyof OrderNote, unknown>>;
  return {
    ...(by !== undefined && { by: causeText(checkText('by', by)) }),
    ...(why !== undefined && { why: causeText(checkText('why', why)) }),
  };
}

/** An order that was carried out. */
export const done: OrderResult = { ok: true, text: 'Done.' };

/** An order that was not carried out. @param text - one sentence that says why. */
export const notDone = (text: string): OrderResult => ({ ok: false, text });
