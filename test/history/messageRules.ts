import { Deliveries } from './deliveries.ts';
import type { ClaimEntry, HistoryRows, MessageEntry, MessageRow } from './journalEntry.ts';
import { isEnded, type SessionHistory } from './sessionHistory.ts';
import type { Refute } from './violation.ts';

/** What is known of one message at a time. */
interface Message {
  /** The first that knew of it. */
  readonly since: MessageEntry | ClaimEntry;
  readonly isMail: boolean;
  /** The token of the last claim that found it waiting. */
  readonly foundBy: number | undefined;
  taken: MessageEntry | undefined;
  end: MessageEntry | ClaimEntry | undefined;
  /** The claim that did not find it: somebody brought it to its end and was not heard, or it is lost. */
  missing: ClaimEntry | undefined;
  mayHaveEnded: boolean;
}

/**
 * The messages of a session, token by token. Whoever writes holds the session, so what a claim finds is what the owners before it had written: a
 * message whose end was confirmed under a lower token cannot wait, and one that was not found cannot come back.
 */
export function checkMessages(history: SessionHistory, rows: HistoryRows, refute: Refute): void {
  const log = new MessageLog(refute);
  for (const { claim, entries } of history.incarnations) {
    for (const entry of entries) {
      // A second claim under one token is told of by the rule of tokens.
      if (entry === claim) log.claimed(entry);
      else if ('message' in entry) log.written(entry);
    }
  }
  if (rows.messages !== undefined) checkRows(history, log, rows.isDrained !== false, refute);
}

class MessageLog {
  readonly messages = new Map<number, Message>();
  readonly deliveries = new Deliveries();
  /** Those that wait, for all that is known. */
  readonly #open = new Set<number>();
  /** Unanswered entries of messages whose post is not answered yet: a store that is not there answers a delivery first. */
  readonly #early = new Map<number, MessageEntry[]>();
  readonly #refute: Refute;

  constructor(refute: Refute) {
    this.#refute = refute;
  }

  claimed(claim: ClaimEntry): void {
    const { session } = claim;
    const dead = new Set(claim.deadLetters);
    const found = new Set([...claim.waiting, ...dead]);
    for (const number of found) {
      const known = this.messages.get(number);
      if (known?.end !== undefined) {
        const says = `message ${number} was brought to its end, and is found without one by the next owner`;
        this.#refute('one_owner', session, says, [known.end, claim]);
      } else if (known?.missing !== undefined) {
        const says = `message ${number} is found by an owner, and was not by the one before`;
        this.#refute('one_owner', session, says, [known.since, known.missing, claim]);
      }
      const message = this.#begin(number, known?.since ?? claim, claim.token);
      if (dead.has(number)) this.#end(number, message, claim);
    }
    for (const number of this.#open) {
      if (found.has(number)) continue;
      const known = this.messages.get(number);
      if (known !== undefined) known.missing = claim;
      this.#open.delete(number);
    }
  }

  written(entry: MessageEntry): void {
    const { session, message: number, type, token } = entry;
    const known = this.messages.get(number);
    if (type === 'put_back') this.deliveries.putBack(entry);
    if (entry.unheard === true) {
      if (known !== undefined) this.#unheard(entry, known);
      else this.#early.set(number, [...(this.#early.get(number) ?? []), entry]);
      return;
    }
    if (type === 'post') {
      if (known === undefined) this.#begin(number, entry);
      else this.#refute('nothing_doubled', session, `message ${number} was posted twice`, [known.since, entry]);
      return;
    }
    // Where the answer to its post was lost, this is the first that is heard of it.
    const message = known ?? this.#begin(number, entry);
    if (message.missing !== undefined) {
      const says = `message ${number} is written under token ${token}, and the claim of ${message.missing.token} did not find it`;
      this.#refute('one_owner', session, says, [message.since, message.missing, entry]);
      message.missing = undefined;
    }
    if (type === 'take') this.#take(entry, message);
    else if (type === 'put_back') message.taken = undefined;
    else this.#finish(entry, message);
  }

  /** It may have been made: nothing follows from it but that the node went on as if it was. */
  #unheard(entry: MessageEntry, message: Message): void {
    if (entry.type === 'take') message.taken = entry;
    else if (entry.type === 'put_back') message.taken = undefined;
    else if (entry.type === 'end') {
      message.mayHaveEnded = true;
      this.#open.delete(entry.message);
    }
  }

  #take(entry: MessageEntry, message: Message): void {
    const { session, message: number, token } = entry;
    this.deliveries.taken(number);
    if (message.end !== undefined) {
      const says = `message ${number} was processed to its end, and is delivered again`;
      this.#refute('nothing_doubled', session, says, [message.end, entry]);
    }
    if (message.taken?.token === token) {
      const says = `message ${number} is delivered twice by one owner`;
      this.#refute('nothing_doubled', session, says, [message.taken, entry]);
    }
    const earlier = this.#overtaken(number, message, token);
    if (earlier !== undefined) {
      const says = `message ${number} is delivered before ${earlier.number}, which waits`;
      this.#refute('in_order', session, says, [earlier.message.since, entry]);
    }
    message.taken = entry;
  }

  #finish(entry: MessageEntry, message: Message): void {
    const { session, message: number } = entry;
    if (message.end !== undefined) {
      const says = `message ${number} was processed to its end twice`;
      this.#refute('nothing_doubled', session, says, [message.end, entry]);
    }
    this.#end(number, message, entry);
  }

  #begin(number: number, since: Message['since'], foundBy?: number): Message {
    const message: Message = {
      since,
      isMail: since.type === 'post' && since.isMail === true,
      foundBy,
      taken: undefined,
      end: undefined,
      missing: undefined,
      mayHaveEnded: false,
    };
    this.messages.set(number, message);
    this.#open.add(number);
    for (const entry of this.#early.get(number) ?? []) if (entry.token === since.token) this.#unheard(entry, message);
    this.#early.delete(number);
    return message;
  }

  #end(number: number, message: Message, by: MessageEntry | ClaimEntry): void {
    message.end = by;
    this.#open.delete(number);
  }

  /**
   * The first message that should have been delivered before this one: what a claim found comes first, and what came by one way is delivered in the
   * order of its numbers. Of one that this owner has taken the answer to its end may have been lost.
   */
  #overtaken(number: number, { isMail }: Message, token: number): { number: number; message: Message } | undefined {
    let first: { number: number; message: Message } | undefined;
    for (const earlier of this.#open) {
      const message = this.messages.get(earlier);
      if (message === undefined || earlier >= number || (first?.number ?? number) < earlier) continue;
      if (message.taken?.token === token || (message.foundBy !== token && message.isMail !== isMail)) continue;
      first = { number: earlier, message };
    }
    return first;
  }
}

function checkRows(
  { session, messages: rows }: SessionHistory,
  { messages, deliveries }: Pick<MessageLog, 'messages' | 'deliveries'>,
  isDrained: boolean,
  refute: Refute,
): void {
  const byKey = new Map<string, MessageRow>();
  const byNumber = new Map<number, MessageRow>();
  for (const row of rows) {
    const { key, number } = row;
    byNumber.set(number, row);
    if (key === null) continue;
    const first = byKey.get(key);
    if (first !== undefined) refute('nothing_doubled', session, `key ${key} is that of two messages`, [first, row]);
    byKey.set(key, row);
  }
  for (const row of rows) {
    const known = messages.get(row.number);
    if (!isEnded(row.state) && (isDrained || known?.end !== undefined)) {
      refute('nothing_lost', session, `message ${row.number} has no end`, [known?.end ?? known?.since, row]);
    }
    const begun = deliveries.of(row.number);
    if (known !== undefined && begun > row.deliveries) {
      const says = `message ${row.number} was delivered ${begun} times, and counted ${row.deliveries} times`;
      refute('nothing_doubled', session, says, [known.since, row]);
    }
  }
  // The oldest without a key are forgotten first, when they are over: somebody brought them to their end, or the next owner did not find them.
  let isOlderThere = false;
  for (const number of [...messages.keys()].sort((one, other) => one - other)) {
    const row = byNumber.get(number);
    const message = messages.get(number);
    if (row !== undefined) isOlderThere ||= row.key === null && isEnded(row.state);
    if (row !== undefined || message === undefined) continue;
    const { since, end, mayHaveEnded, missing } = message;
    if (end !== undefined || mayHaveEnded || (missing !== undefined && !isOlderThere)) continue;
    refute('nothing_lost', session, `message ${number} was kept, and is gone`, [since]);
  }
}
