import type { ControlAnswer } from './client.ts';
import { type OrderResult, notDone } from '../src/policy/face.ts';
import type { Order } from './order.ts';
import { commandAbout } from '../src/policy/text/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';

/** Says of an order that was sent and not answered that it may have been carried out. Undefined where that is not so. */
export function unansweredText(answer: ControlAnswer, order: Pick<Order, 'order' | 'name'>): string | undefined {
  const closed = closedText(answer);
  return closed && `${closed}: whether it was done is not known; look with \`${lookWith(order)}\`.`;
}

/**
 * The same of an order about a dead letter, of which the database says what became of it: it is written there before anything comes of it.
 * @returns undefined where the order was answered.
 */
export async function letterAfter(
  answer: ControlAnswer,
  { order, name: session, target = '' }: Order,
  reader: Pick<StoreReader, 'deadLetters' | 'events'>,
): Promise<OrderResult | undefined> {
  const closed = closedText(answer);
  if (closed === undefined) return undefined;
  const letters = await reader.deadLetters(session);
  if (letters.some(({ id }) => id === target)) {
    // A gateway that runs may still do it.
    const yet = answer.ok || answer.reason === 'lost' ? '' : ' so far';
    return notDone(`${closed}. It was not done${yet}: ${target} is a dead letter still.`);
  }
  const events = await reader.events({ category: 'operator', session, text: target, limit: 20 });
  const type = order === 'drop' ? 'dropped' : 'sent_again';
  const event = events.findLast((each) => each.type === type && each.metadata['message'] === target);
  if (event === undefined) return notDone(`${closed}: what became of ${target} is not on record.`);
  const done = order === 'drop' ? 'was dropped for good' : `was sent again as ${String(event.metadata['as'])}`;
  return { ok: true, text: `${target} ${done}. ${closed}.` };
}

function closedText(answer: ControlAnswer): string | undefined {
  if (answer.ok) return undefined;
  if (answer.reason === 'lost') return 'The gateway closed the connection before it answered';
  return answer.reason === 'timeout' ? `The gateway gave ${answer.message}` : undefined;
}

/** The command that shows what became of an order. */
function lookWith({ order, name }: Pick<Order, 'order' | 'name'>): string {
  if (order === 'send_again' || order === 'drop') return 'unwedge letters';
  const isOfTurn = order === 'fire' || order === 'cancel' || order === 'stop_retrying';
  return isOfTurn ? commandAbout('why', name, '') : 'unwedge status';
}
