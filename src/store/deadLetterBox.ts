import { notDone, type OrderResult } from '../policy/operatorOrder.ts';
import { messageOf } from '../policy/thrown.ts';
import type { Driver } from './sqlite/database.ts';
import { findDriver } from './sqlite/driver.ts';
import type { LetterOrder } from './letterOrder.ts';
import { actInFile, recordInFile } from './sqlite/letterBox.ts';
import type { AlertNoteFact } from './storeReader.ts';

/**
 * Sends a dead letter again, or drops it, in a database without a live owner of its session. Where a runtime that may live has the session
 * nothing is done. Never rejects.
 * @param path - of the database, absolute.
 */
export function orderAboutLetter(path: string, order: LetterOrder): Promise<OrderResult> {
  return withDriver((driver) => actInFile(driver, path, { ...order, at: Math.round(order.at) }));
}

/** Records what somebody said of an alert. Never rejects. @param path - of the database, absolute. */
export function recordNote(path: string, fact: AlertNoteFact, at: number): Promise<OrderResult> {
  return withDriver((driver) => recordInFile(driver, path, fact, Math.round(at)));
}

async function withDriver(work: (driver: Driver) => OrderResult): Promise<OrderResult> {
  try {
    const found = await findDriver();
    if (!found.ok) return notDone(`${found.reason}. Fix: ${found.fix}.`);
    return work(found.driver);
  } catch (error) {
    return notDone(`The database cannot be written: ${messageOf(error)}.`);
  }
}
