import type { Outcome } from '../../../src/policy/failures/failure.ts';
import type { IncomingMail, Mailed, SessionMail } from '../../../src/sessions/sessionMail.ts';
import type { SessionLedger } from '../../../src/sessions/sessionStore.ts';
import type { Chance } from '../chance.ts';

/** A message that a node has left for the owner of a session. */
export interface SentMail {
  readonly node: string;
  readonly session: string;
  readonly mark: string;
  readonly key: string | undefined;
  /** Undefined while it is not answered. */
  answer: Mailed | undefined;
  /** What its sender was told of its end, each time. */
  readonly ends: Outcome<unknown>[];
}

/** What of a session matters to its mail. */
export interface Receiving {
  readonly ledger: SessionLedger;
  readonly keys: Map<string, number>;
  readonly mailbox: number[];
  lastMessage: number;
  isLeft: boolean;
}

/** Messages that fit into a mailbox, and mails that may wait for a session. */
const mostMessages = 12;
const mostMails = 6;
/** Keys that nodes share, so that several send the same. */
const sharedKeys = 10;

export interface NodeMailParts {
  readonly node: string;
  readonly mail: SessionMail;
  readonly chance: Chance;
  readonly wallNow: () => number;
  /** Runs an operation of the node; what it answers to a dead one is heard by nobody. */
  readonly ask: (work: () => Promise<unknown>) => void;
  readonly isDead: () => boolean;
  /** A planted bug: a mail is taken as a message of its own though its key is known. */
  readonly joinsNone: boolean;
}

/** The mail of a node: what it sends, and what it takes for its sessions as a gateway does. */
export class NodeMail {
  readonly sent: SentMail[] = [];
  readonly #parts: NodeMailParts;

  constructor(parts: NodeMailParts) {
    this.#parts = parts;
  }

  /** A key that others may use too. */
  key(): string | undefined {
    const { chance } = this.#parts;
    return chance.happens(0.4) ? `shared ${chance.integer(1, sharedKeys)}` : undefined;
  }

  send(session: string, mark: string): void {
    const { node, mail, ask, isDead, wallNow } = this.#parts;
    const sent: SentMail = { node, session, mark, key: this.key(), answer: undefined, ends: [] };
    this.sent.push(sent);
    ask(async () => {
      const answer = await mail.post({
        ...{ session, message: { kind: 'user', data: mark }, key: sent.key, at: wallNow(), limit: mostMails },
        ended: (outcome) => sent.ends.push(outcome),
      });
      if (!isDead()) sent.answer = answer;
    });
  }

  look(): void {
    this.#parts.ask(() => this.#parts.mail.look());
  }

  /** The session is this node's now. */
  serve(session: string, owned: Receiving): void {
    const taking = new Set<number>();
    this.#parts.mail.serve(session, {
      receive: (mails) => {
        if (owned.isLeft) return false;
        for (const mail of mails) {
          if (taking.has(mail.mail)) continue;
          if (owned.mailbox.length + taking.size >= mostMessages) return false;
          taking.add(mail.mail);
          this.#take(owned, mail, () => taking.delete(mail.mail));
        }
        return true;
      },
    });
  }

  #take(owned: Receiving, { mail, key }: IncomingMail, taken: () => void): void {
    const known = key === undefined ? undefined : owned.keys.get(key);
    const joins = known !== undefined && !this.#parts.joinsNone;
    const number = joins ? known : ++owned.lastMessage;
    if (key !== undefined && !joins) owned.keys.set(key, number);
    this.#parts.ask(async () => {
      const kept = await owned.ledger.takeMail?.({ mail, number, joins });
      taken();
      if (kept === 'durable' && !joins && !owned.isLeft) owned.mailbox.push(number);
      else if (kept !== 'durable' && key !== undefined && !joins) owned.keys.delete(key);
    });
  }
}
