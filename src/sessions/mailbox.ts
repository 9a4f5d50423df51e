import { boolean, choice, integer, type Given } from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';

/** A message for a session. `heartbeat` is the only kind the runtime itself knows. */
export interface Message {
  readonly kind: string;
  readonly text?: string | undefined;
  readonly data?: unknown;
}

/** Name of a message in its session. */
export interface MessageName {
  readonly number: number;
  /** Number as a mail, of one that came so from another runtime: its id was given out before its number was known. */
  readonly mail?: number | undefined;
}

/** Result of offering a message to the mailbox. */
type Posted<M> =
  | { readonly posted: 'queued'; readonly dropped?: M | undefined }
  | { readonly posted: 'coalesced'; readonly into: M }
  | { readonly posted: 'refused' };

interface Envelope {
  readonly message: Message;
}

/** The options of a mailbox. */
export const mailboxKeys = {
  /** Messages that may wait, at least 1. @defaultValue 1000 */
  limit: integer({ default: 1000, help: 'Messages that may wait.' }),
  /**
   * Treatment of a heartbeat by a full mailbox: `refuse` it like any message, or `drop_oldest`, which puts it in the place of the heartbeat that has waited
   * longest. @defaultValue 'refuse'
   */
  heartbeats: choice(['refuse', 'drop_oldest'], {
    default: 'refuse',
    help: 'What a full mailbox does with a heartbeat.',
  }),
  /** Lets a heartbeat join one that already waits. @defaultValue false */
  coalesceHeartbeats: boolean({ default: false, help: 'Whether a heartbeat joins one that already waits.' }),
};

/** Number of messages of a session that may wait, and what becomes of heartbeats. */
export interface MailboxOptions extends Given<typeof mailboxKeys> {}

/** The ordered, bounded queue of a session. What overflows is refused before acceptance, never dropped after it. */
export class Mailbox<M extends Envelope> {
  readonly limit: number;
  readonly #dropsOldest: boolean;
  readonly #coalesces: boolean;
  #items: M[] = [];

  constructor(options: MailboxOptions = {}) {
    const { limit, heartbeats, coalesceHeartbeats } = readOptions('mailbox', options, mailboxKeys);
    this.limit = limit;
    this.#dropsOldest = heartbeats === 'drop_oldest';
    this.#coalesces = coalesceHeartbeats;
  }

  get length(): number {
    return this.#items.length;
  }

  /** The one that has waited longest. */
  get oldest(): M | undefined {
    return this.#items[0];
  }

  post(item: M): Posted<M> {
    const isHeartbeat = item.message.kind === 'heartbeat';
    if (isHeartbeat && this.#coalesces) {
      const into = this.#items.find(({ message }) => message.kind === 'heartbeat');
      if (into !== undefined) return { posted: 'coalesced', into };
    }
    if (this.#items.length < this.limit) {
      this.#items.push(item);
      return { posted: 'queued' };
    }
    const oldest =
      isHeartbeat && this.#dropsOldest ? this.#items.findIndex(({ message }) => message.kind === 'heartbeat') : -1;
    if (oldest < 0) return { posted: 'refused' };
    const [dropped] = this.#items.splice(oldest, 1);
    this.#items.push(item);
    return { posted: 'queued', dropped };
  }

  /** Puts what was accepted by an earlier run first, whatever the limit: it was acknowledged. */
  restore(items: readonly M[]): void {
    this.#items = [...items, ...this.#items];
  }

  /** Puts one last, whatever the limit: it was acknowledged. */
  add(item: M): void {
    this.#items.push(item);
  }

  /** Takes one out that is not to be delivered; where it is not there any more it does nothing. */
  remove(item: object): void {
    const at = this.#items.findIndex((each) => each === item);
    if (at >= 0) this.#items.splice(at, 1);
  }

  take(): M | undefined {
    return this.#items.shift();
  }

  /** Empties the mailbox. */
  takeAll(): M[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
}

/** The id of a message, for good. */
export function messageId(session: string, { number, mail }: MessageName): string {
  return mail === undefined ? `${session}-m${number}` : `${session}-x${mail}`;
}

/** Name of a message as its id tells it. */
export type NamedMessage = { readonly number: number } | { readonly mail: number };

/** Reads the id of a message of a session; undefined for one that is none. */
export function messageNamed(id: string, session: string): NamedMessage | undefined {
  if (!id.startsWith(`${session}-`)) return undefined;
  const [, kind, digits] = /^([mx])(\d{1,15})$/.exec(id.slice(session.length + 1)) ?? [];
  if (digits === undefined) return undefined;
  return kind === 'x' ? { mail: Number(digits) } : { number: Number(digits) };
}
