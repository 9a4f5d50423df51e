import { type LiveStatus, readOrderAnswer, readStatusAnswer } from '../control/answers.ts';
import { askRuntime } from '../control/client.ts';
import type { Clock } from '../policy/clock.ts';
import { done, noteIn, notDone, type Order, type OrderName, type OrderResult } from '../policy/operatorOrder.ts';
import { messageOf } from '../policy/thrown.ts';
import type { StoreReader } from '../store/storeReader.ts';
import { type AskedRuntime, askRuntimes } from './askRuntimes.ts';

/** Where the runtimes of an order are found. */
export interface OrderedDatabase {
  readonly clock: Clock;
  /** Reads from the database, which is opened for it. */
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
}

/** Orders that every runtime carries out which has what they name; of the others one does. */
const forEach: ReadonlySet<OrderName> = new Set<OrderName>(['restart', 'isolate', 'reset']);

/**
 * Gives an order to the runtimes of a database that have what it names. One about a dead letter is carried out without a runtime where none
 * has its session. Never rejects: what could not be done is said.
 */
export async function giveOrder(order: Order, { clock, read }: OrderedDatabase): Promise<OrderResult> {
  const { order: what, name, ...note } = order;
  try {
    const { path, rows } = await read(async (reader) => ({ path: reader.path, rows: await reader.runtimes() }));
    const asked = await askRuntimes(rows, { now: () => clock.wallNow() }, 'status', readStatusAnswer);
    const having = asked.filter(({ answer }) => answer !== undefined && has(answer, name));
    if (having.length === 0) {
      const dead = asked.filter(({ runtime }) => runtime.liveness === 'dead').map(({ runtime }) => runtime.id);
      return await withoutRuntime(order, path, new Set(dead), clock);
    }
    const give = async ({ runtime }: AskedRuntime<LiveStatus>): Promise<OrderResult> => {
      const answer = await askRuntime(runtime.socket ?? '', what, { name, ...note }, { clock });
      return answer.ok ? readOrderAnswer(answer.value) : notDone(`${answer.message}.`);
    };
    return forEach.has(what) ? await everywhere(having, give) : await anywhere(having, give);
  } catch (error) {
    return notDone(messageOf(error));
  }
}

async function withoutRuntime(
  { order, name, target = '', by, why }: Order,
  path: string,
  dead: ReadonlySet<string>,
  clock: Clock,
): Promise<OrderResult> {
  if (order !== 'send_again' && order !== 'drop') return notDone('No live gateway has it: nothing was done.');
  // Loaded now: few ever need it.
  const { orderAboutLetter } = await import('../store/deadLetterBox.ts');
  const note = noteIn({ by, why });
  return orderAboutLetter(path, { order, session: name, message: target, note, at: clock.wallNow(), dead });
}

type Give<T> = (to: T) => Promise<OrderResult>;

async function everywhere<T>(all: readonly T[], give: Give<T>): Promise<OrderResult> {
  const results = await Promise.all(all.map(give));
  const refused = results.find(({ ok }) => !ok);
  if (refused !== undefined) return notDone(`It was not done: ${refused.text}`);
  return results.length === 1 ? (results[0] ?? done) : { ok: true, text: `Done in ${results.length} gateways.` };
}

/** One after the other: what one of them did, another must not do as well. */
async function anywhere<T>(all: readonly T[], give: Give<T>): Promise<OrderResult> {
  let refused: OrderResult | undefined;
  for (const each of all) {
    const result = await give(each);
    if (result.ok) return result;
    refused ??= notDone(`It was not done: ${result.text}`);
  }
  return refused ?? done;
}

function has({ integrations, sessions, groups = [] }: LiveStatus, name: string): boolean {
  return (
    integrations.some(({ integration }) => integration === name) ||
    sessions.some(({ session }) => session === name) ||
    groups.some(({ group }) => group === name)
  );
}
