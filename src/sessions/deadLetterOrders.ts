import type { Fact } from '../policy/facts/facts.ts';
import { notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import type { Intake } from './intake.ts';
import { messageNamed } from './mailbox.ts';
import type { Persistence } from './persistence.ts';
import type { SessionScope } from './sessionScope.ts';

/** Orders of an operator about the dead letters of a session. */
export class DeadLetterOrders {
  readonly #scope: SessionScope;
  readonly #persistence: Persistence;
  readonly #intake: Intake;

  constructor(scope: SessionScope, persistence: Persistence, intake: Intake) {
    this.#scope = scope;
    this.#persistence = persistence;
    this.#intake = intake;
  }

  /** Has a dead letter delivered as a new message with the same content: once, however often it is ordered. Never rejects. */
  async sendAgain(id: string, note: OrderNote): Promise<OrderResult> {
    const found = await this.#find(id);
    if ('text' in found) return found;
    const { ledger, letter } = found;
    const { message, number } = letter;
    if (message === undefined) return notDone(`${id} cannot be read, and so not be sent again: drop it.`);
    const { id: session, clock } = this.#scope;
    const resent = await this.#intake.resend({ ...letter, message }, (as) => {
      return { type: 'operator.sent_again', session, message: id, as, ...note };
    });
    if ('refused' in resent)
      return notDone(
        resent.refused === 'not_kept' ? unwritten : `The session takes no message now: ${resent.refused}.`,
      );
    const { id: as, isFirst } = resent;
    if (isFirst) return { ok: true, text: `${id} was sent again as ${as}.` };
    // An earlier version may have left it in the list.
    await ledger.bury(number, clock.wallNow(), `sent again as ${as}`);
    return notDone(`It was sent again already, as ${as}.`);
  }

  /** Drops a dead letter for good. Never rejects. */
  async drop(id: string, note: OrderNote): Promise<OrderResult> {
    const found = await this.#find(id);
    if ('text' in found) return found;
    const { facts, id: session, clock } = this.#scope;
    const fact = facts.masked<Fact>({ type: 'operator.dropped', session, message: id, ...note });
    const kept = await found.ledger.bury(found.letter.number, clock.wallNow(), 'dropped by an operator', fact);
    if (kept !== 'durable') return notDone(unwritten);
    facts.tell(fact, true);
    return { ok: true, text: `The dead letter ${id} was dropped for good.` };
  }

  async #find(id: string) {
    const { ledger, held } = this.#persistence;
    if (held) return notDone('Another gateway has the session.');
    if (ledger === undefined) return notDone('The session is not kept here: it has no dead letters.');
    const named = messageNamed(id, this.#scope.id);
    const letter = named && (await ledger.deadLetter(named));
    if (letter === undefined) return notDone(noLetter(id));
    return { ledger, letter };
  }
}

const unwritten = 'It could not be written: the store is out of order, or another gateway has the session.';

/** Why nothing is done about what is no dead letter. */
export const noLetter = (id: string): string =>
  `${id} is no dead letter: it was sent again or dropped, or never was one.`;
