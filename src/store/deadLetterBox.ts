import { notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { messageOf } from '../policy/thrown.ts';
import { findDriver } from './sqlite/driver.ts';
import { actInFile } from './sqlite/letterBox.ts';

/** What is to be done about a dead letter of a session that no live runtime has. */
export interface LetterOrder {
  readonly order: 'send_again' | 'drop';
  readonly session: string;
  /** Its id. */
  readonly message: string;
  readonly note: OrderNote;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  /** The runtimes that were found dead: what they own is nobody's. */
  readonly dead: ReadonlySet<string>;
}

/**
 * Sends a dead letter again, or drops it, in a database without a live owner of its session. Where a runtime that may live has the session
 * nothing is done. Never rejects.
 * @param path - of the database, absolute.
 */
export async function orderAboutLetter(path: string, order: LetterOrder): Promise<OrderResult> {
  try {
    const found = await findDriver();
    if (!found.ok) return notDone(`${found.reason}. Fix: ${found.fix}.`);
    return actInFile(found.driver, path, { ...order, at: Math.round(order.at) });
  } catch (error) {
    return notDone(`The database cannot be written: ${messageOf(error)}.`);
  }
}
