import type { Carried } from '../outage.ts';
import type { Database } from './database.ts';

/** Rows that a live runtime needs, whatever becomes of the file: a new one is given them in its first transaction, before any other write. */
export interface Carrier {
  /** Runs again where the transaction fails. @param transaction - another object for each. */
  carry(database: Database, transaction: object): Carried;
}

/** All of them, in their order; the sums of what each has carried. */
export function carryAll(carriers: Iterable<Carrier>, database: Database, transaction: object): Carried {
  let [carried, lost] = [0, 0];
  for (const carrier of carriers) {
    const some = carrier.carry(database, transaction);
    carried += some.carried;
    lost += some.lost;
  }
  return { carried, lost };
}
