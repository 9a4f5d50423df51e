import type { Fact, Told } from '../src/policy/facts/face.ts';
import { type OrderNote, type OrderResult, done, notDone } from '../src/policy/face.ts';
import { createFactRedactor } from '../src/redaction/face.ts';
import { type StoredDeadLetter, messageId, resendKey } from '../src/sessions/face.ts';
import { type StoredEvent, type Work, nameOf, step, storedEvent } from '../src/store/face.ts';
import { type PersonAnswer, type Question, answerable, answerResult } from '../src/policy/records/face.ts';
import { endFact, masked } from '../src/runtime/face.ts';
import { buried, endInStore, firstOfKey, lastNumbers, resent } from '../src/store/tables/face.ts';

/** Order about a session that no live runtime of this machine has: about a dead letter, a mail that nobody took, or all of it. */
export interface LetterOrder {
  readonly order: 'send_again' | 'drop' | 'forget';
  readonly session: string;
  /** Id of the letter or the mail; of `forget` how: empty, `look` only, or `close` what is under way. */
  readonly message: string;
  readonly note: OrderNote;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  /** The runtimes of this machine that were found dead: what they own in a file is nobody's. */
  readonly dead: ReadonlySet<string>;
}

/** A dead letter as its row says. */
export interface Letter {
  readonly number: number;
  readonly isReadable: boolean;
  /** Key of the message by which it is sent again. */
  readonly key: string;
}

/** A letter as an order takes it. */
export const letterOf = (letter: StoredDeadLetter): Letter => ({
  number: letter.number,
  isReadable: letter.message !== undefined,
  key: resendKey(letter),
});

/** Ways to carry an order out, each with the fact that tells of it. */
export interface LetterWays {
  readonly bury: (why: string, fact?: Fact) => Work<unknown>;
  /** Makes the new message, under the key that says what it is, and takes the letter out. @returns what is said of it. */
  readonly send: (key: string) => Work<string>;
}

/** Carries out an order about a dead letter, within one transaction. @param ways - in the place of an owner: nobody has the session until the commit. */
export function* actOnLetter(
  order: LetterOrder,
  { number, isReadable, key }: Letter,
  { bury, send }: LetterWays = asOwner(order, number),
): Work<OrderResult> {
  const { session, message, note } = order;
  if (order.order === 'drop') {
    yield* bury('dropped by an operator', { type: 'operator.dropped', session, message, ...note });
    return { ok: true, text: `The dead letter ${message} was dropped for good.` };
  }
  if (!isReadable) return notDone(`${message} cannot be read, and so not be sent again: drop it.`);
  const [first] = yield step(firstOfKey, session, { session, key });
  if (first !== undefined) {
    // An earlier version may have left it in the list.
    const as = messageId(session, nameOf(first));
    yield* bury(`sent again as ${as}`);
    return notDone(`It was sent again already, as ${as}.`);
  }
  return { ok: true, text: yield* send(key) };
}

function asOwner(order: LetterOrder, letter: number): LetterWays {
  const { session, message, at } = order;
  return {
    bury: (why, fact) => buried(session, letter, at, why, fact),
    *send(key) {
      const [last] = yield step(lastNumbers, session, { session });
      const number = Number(last?.['message'] ?? 0) + 1;
      const as = messageId(session, { number });
      yield* resent(session, { letter, number, key, at, fact: sentAgain(order, as) });
      return `${message} was sent again as ${as}; it is delivered when a gateway that has the session starts.`;
    },
  };
}

/** The fact that tells of a letter that was sent again. */
export function sentAgain({ session, message, note }: LetterOrder, as: string): Fact {
  return { type: 'operator.sent_again', session, message, as, ...note };
}

/** Records what somebody said. */
export function* recorded(fact: Fact, at: number): Work<OrderResult> {
  yield { fact: { ...fact, at } };
  return done;
}

/** Answers the question whose id begins as given, within one transaction. @param found - those whose ids do. */
export function* answered(
  found: readonly Question[],
  given: string,
  answer: PersonAnswer,
  at: number,
): Work<OrderResult> {
  const question = answerable(found, given, answer);
  if ('ok' in question) return question;
  const kept = masked(answer, createFactRedactor());
  const end = yield* endInStore(question.id, { state: 'answered', answer: kept }, at);
  if (end?.isNew === true) yield { fact: { ...endFact(end.question), at } };
  return answerResult(end);
}

/** Gives what the store keeps of a fact that nobody else hears: it is masked as it is recorded. */
export function maskedEvent(fact: Told<Fact>): StoredEvent | undefined {
  return storedEvent(createFactRedactor()(fact));
}

export const unknownText = (session: string): string => `No session ${session} is kept there.`;
