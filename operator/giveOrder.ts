import { type LiveStatus, readOrderAnswer, readStatusAnswer } from '../src/control/face.ts';
import { askRuntime } from './client.ts';
import { type BudgetAnswer, type Clock, type OrderResult, done, notDone, noteIn, said } from '../src/policy/face.ts';
import { nearest } from '../src/policy/text/face.ts';
import type { Order, OrderName } from './order.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { type ShownName, createShownNames, nameAmong } from '../src/redaction/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import { type AskedRuntime, askRuntimes } from './askRuntimes.ts';
import { runtimesOf } from './unlisted.ts';
import { knownNames } from '../src/runtime/face.ts';
import { letterAfter, unansweredText } from './unknownOrder.ts';
import { lateModule } from '../src/actors/process/face.ts';

const putAwayModule = lateModule(() => import('./putAway.ts'));

/** Database in which the runtimes of an order are found. */
export interface OrderedDatabase {
  readonly clock: Clock;
  /** Reads from the database, which is opened for it. */
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
}

/** Time that a gateway may take to let go of a session whose turn it cuts, in ms. */
const letGoMs = 15_000;

/** Orders that every runtime carries out which has what they name; of the others one does. */
const forEach: ReadonlySet<OrderName> = new Set<OrderName>(['restart', 'isolate', 'reset', 'forget']);

/** A runtime that has what an order names, and how it calls that. */
interface Having {
  readonly asked: AskedRuntime<LiveStatus>;
  readonly name: string;
}

/**
 * Gives an order to the runtimes of a database that have what it names. One about a dead letter is carried out without a runtime where none
 * of this machine has its session, one about an alert always so. Never rejects: what could not be done is said, with the runtimes that do not answer.
 */
export async function giveOrder(
  order: Order,
  { clock, read }: OrderedDatabase,
  tries = mostTries,
): Promise<BudgetAnswer> {
  const { order: what, name: given, ...note } = order;
  // Loaded now: it needs no runtime.
  if (what === 'acknowledge' || what === 'snooze') return (await putAwayModule()).putAway(order, { clock, read });
  try {
    const { path, rows } = await read(async (reader) => ({
      path: reader.path,
      rows: await runtimesOf(reader, clock.wallNow()),
    }));
    const asked = await askRuntimes(rows, { now: () => clock.wallNow() }, 'status', readStatusAnswer);
    const shown = createShownNames();
    const having = asked.flatMap((each): readonly Having[] => {
      const name = each.answer === undefined ? undefined : nameIn(namesOf(what, each.answer), given, shown);
      return name === undefined ? [] : [{ asked: each, name }];
    });
    const silent = silenceOf(asked);
    if (having.length === 0) return await withoutRuntime(order, { path, asked, silent, clock, read, shown });
    const isOfLetter = what === 'send_again' || what === 'drop';
    const give: Give = async ({ asked: { runtime }, name }) => {
      const answer = await askRuntime(
        runtime.socket ?? '',
        what,
        { name, ...note },
        { clock, timeoutMs: what === 'forget' ? letGoMs : undefined },
      );
      const label = shown(given);
      if (answer.ok) {
        const result = readOrderAnswer(answer.value);
        const { ok, text } = said(result, doneText(what, label));
        const limits = result.limits?.map((one) => ({ ...one, scope: one.scope.replace(name, shown(name)) }));
        return { isKnown: true, ok, text: text.replaceAll(name, shown(name)), limits };
      }
      const found = isOfLetter ? await read((reader) => letterAfter(answer, { ...order, name }, reader)) : undefined;
      if (found !== undefined) return { isKnown: false, ...found };
      const unknown = unansweredText(answer, { order: what, name: label });
      return {
        isKnown: unknown === undefined,
        ...notDone(unknown ?? `${answer.message.replaceAll(name, shown(name))}.`),
      };
    };
    const result = forEach.has(what) ? await everywhere(having, give) : await anywhere(having, give);
    if (what === 'forget' && (result.ok || order.target === 'close')) {
      const name = having[0]?.name ?? given;
      const nobody = { path, asked, silent, clock, read, shown };
      // None has it any more, unless it was named again.
      const erased = result.ok ? await withoutRuntime({ ...order, name }, nobody) : result;
      return erased.ok || tries <= 1 ? erased : await giveOrder(order, { clock, read }, tries - 1);
    }
    return silent === '' ? result : { ...result, text: `${result.text} ${silent}` };
  } catch (error) {
    return notDone(messageOf(error));
  }
}

/** Times that a session is let go of to be erased, where it is named again each time. */
const mostTries = 5;

/** Says what was done, where the answer says no more than that. */
function doneText(order: OrderName, name: string): string {
  if (order === 'restart') return `${name} is restarted.`;
  if (order === 'isolate') return `The circuit of ${name} is held open until it is reset.`;
  return order === 'reset' ? `The circuit of ${name} is closed.` : done.text;
}

/** Says what does not answer and may have what is named; empty where all answer. */
function silenceOf(asked: readonly AskedRuntime<unknown>[]): string {
  return asked
    .filter(({ answer, runtime }) => answer === undefined && runtime.liveness !== 'dead')
    .map(({ runtime: { name, pid }, problem, elsewhere }) =>
      elsewhere === undefined
        ? `${name} (pid ${pid}) does not answer: ${problem ?? ''}.`
        : `${name} (pid ${pid}) runs on ${elsewhere} and may have it: give the order there.`,
    )
    .join(' ');
}

interface Nobody {
  readonly path: string;
  readonly asked: readonly AskedRuntime<LiveStatus>[];
  readonly silent: string;
  readonly clock: Clock;
  readonly read: OrderedDatabase['read'];
  readonly shown: ShownName;
}

async function withoutRuntime(
  { order, name, target = '', by, why }: Order,
  { path, asked, silent, clock, shown, read }: Nobody,
): Promise<OrderResult> {
  if (order === 'send_again' || order === 'drop' || order === 'forget') {
    const dead = asked.filter(({ runtime }) => runtime.liveness === 'dead').map(({ runtime }) => runtime.id);
    const note = noteIn({ by, why });
    const letter = { order, session: name, message: target, note, at: clock.wallNow(), dead: new Set(dead) };
    const result = await read((reader) => reader.orderAboutLetter(letter));
    return result.ok || silent === '' ? result : notDone(`${result.text} ${silent}`);
  }
  const live = asked.flatMap(({ answer }) => answer ?? []);
  const label = shown(name);
  if (live.length > 0) {
    const isCalled =
      order !== 'probe' && live.some((answer) => nameAmong(namesOf('probe', answer), name, shown) !== undefined);
    if (isCalled) return notDone(`${label} is an integration and no session: nothing was done.`);
    const known = [...new Set(live.flatMap((answer) => namesOf(order, answer)))].map(shown);
    const near = nearest(name, known);
    const guess = near === undefined ? `known: ${knownNames(known)}.` : `did you mean ${near}?`;
    return notDone(`No live gateway has ${label}, and nothing was done; ${guess}${silent && ` ${silent}`}`);
  }
  return notDone(silent === '' ? `No gateway runs on ${path}: nothing was done.` : `Nothing was done: ${silent}`);
}

/** Result of an order at one runtime. */
interface Given extends BudgetAnswer {
  /** True where it answered. Otherwise it may have carried the order out all the same. */
  readonly isKnown: boolean;
}

type Give = (to: Having) => Promise<Given>;

const refusal = ({ isKnown, text }: Given): OrderResult => notDone(isKnown ? `It was not done: ${text}` : text);

async function everywhere(all: readonly Having[], give: Give): Promise<OrderResult> {
  const results = await Promise.all(all.map(give));
  const refused = results.find(({ ok }) => !ok);
  if (refused !== undefined) return refusal(refused);
  const { text } = results[0] ?? done;
  return results.length === 1 ? { ok: true, text } : { ok: true, text: `In ${results.length} gateways: ${text}` };
}

/** Asks one after the other: what one of them did, or may have done, another must not do as well. */
async function anywhere(all: readonly Having[], give: Give): Promise<BudgetAnswer> {
  let refused: OrderResult | undefined;
  for (const each of all) {
    const result = await give(each);
    if (result.ok) return { ok: true, text: result.text, limits: result.limits };
    refused ??= refusal(result);
    if (!result.isKnown) return refused;
  }
  return refused ?? done;
}

/** Lists what an order of this kind may name. */
function namesOf(order: OrderName, { integrations, sessions, groups = [] }: LiveStatus): readonly string[] {
  const called = [...integrations.map(({ integration }) => integration), ...groups.map(({ group }) => group)];
  const kept = sessions.map(({ session }) => session);
  if (order === 'restart' || order === 'budget') return [...called, ...kept];
  // A gateway that only sends to a session does nothing about its dead letters.
  if (order === 'send_again' || order === 'drop')
    return sessions.filter(({ heldElsewhere }) => heldElsewhere !== true).map(({ session }) => session);
  return order === 'isolate' || order === 'reset' || order === 'probe' ? called : kept;
}

/** The name that is given: as it is, as it was declared, or as it is shown. */
function nameIn(names: readonly string[], given: string, shown: ShownName): string | undefined {
  return nameAmong(names, given, shown) ?? names.find((name) => name === `hook:${given}`);
}
