import { notDone, type OrderResult } from '../policy/operatorOrder.ts';
import { messageOf } from '../policy/thrown.ts';
import { findDriver } from './sqlite/driver.ts';
import type { LetterOrder } from './letterOrder.ts';
import { actInFile } from './sqlite/letterBox.ts';

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
