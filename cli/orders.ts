import { text } from './command.ts';
import { userInfo } from 'node:os';
import type { BudgetAnswer } from '../src/policy/face.ts';
import type { Order } from '../operator/order.ts';
import { giveOrder } from '../operator/giveOrder.ts';
import { createShownNames } from '../src/redaction/face.ts';
import { systemClock } from '../src/runtime/face.ts';
import { readDatabase } from './database.ts';
import { CommandError } from './errors.ts';
import type { Io } from './io.ts';
import { sanitize, toJson } from './sanitize.ts';
import { wrapLines } from './text.ts';

/** The option of every command that orders something. */
export const reasonOption = {
  reason: text('TEXT', 'why, kept in the record'),
} as const;

/** An order on the command line. */
interface GivenOrder extends Pick<Order, 'order' | 'name' | 'target'> {
  readonly reason: string | undefined;
  /** Name of the orderer. @defaultValue the user who runs the command */
  readonly by?: string | undefined;
}

/** Words of the command line that an order needs. */
export interface OrderArgs {
  readonly db: string | undefined;
  readonly json: boolean;
}

/** Gives an order as the user who runs the command. Never rejects. */
export function give({ reason, by, ...order }: GivenOrder, db: string | undefined, io: Io): Promise<BudgetAnswer> {
  const note = noteOf(reason);
  return giveOrder(
    { ...order, ...note, by: by ?? note.by },
    { clock: systemClock, read: (work) => readDatabase(db, io, work) },
  );
}

/** The same, and says what became of it. @throws CommandError where it was not done. */
export async function giveAndSay(order: GivenOrder, { db, json }: OrderArgs, io: Io): Promise<number> {
  const { ok, text, limits } = await give(order, db, io);
  if (!ok) throw new CommandError(sanitize(text));
  const { order: what, name, target } = order;
  io.stdout.write(
    json
      ? toJson({ order: what, name: createShownNames()(name), target, text, limits })
      : wrapLines([sanitize(text)], io.columns),
  );
  return 0;
}

/** Notes who orders, and why. */
export function noteOf(reason: string | undefined): Pick<Order, 'by' | 'why'> {
  const why = reason?.trim();
  return { by: whoRuns(), ...(why && { why }) };
}

function whoRuns(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry, as in some containers.
    return 'unwedge';
  }
}
