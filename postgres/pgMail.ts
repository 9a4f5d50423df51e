import type { Clock, Random, Timer } from '../src/policy/face.ts';
import type { Outcome } from '../src/policy/failures/face.ts';
import type {
  IncomingMail,
  MailReceiver,
  Mailed,
  OldestMail,
  OutgoingMail,
  SessionMail,
} from '../src/sessions/face.ts';
import { toJson } from '../src/policy/text/face.ts';
import { messageIn, nameOf } from '../src/store/face.ts';
import { firstOfKey } from '../src/store/tables/face.ts';
import { outcomeIn } from '../src/sessions/face.ts';
import { overRows } from './pgTables.ts';
import { answeredMail, endedMail, oldestMail, oldMail, postMail, waitingMail } from './mailStatements.ts';
import type { BatchRows } from './batch.ts';
import type { NodeConnection } from './nodeConnection.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';

/** Interval at which mail is looked for, in ms; a hint is followed at once. */
const lookEveryMs = 1_000;
/** Every how many of these looks the oldest mail is asked for, and what is old is deleted. */
const oldestEvery = 5;
const sweepEvery = 60;
/** Rows of one read. */
const mostRows = 500;

export interface PgMailParts {
  readonly database: PgDatabase;
  readonly clock: Clock;
  readonly random: Random;
  readonly node: Pick<NodeConnection, 'notify' | 'onWake'>;
  /** The runtime whose mail it is. */
  readonly runtime: string;
}

/**
 * Messages between runtimes, as rows that one of them writes and another takes. Nothing is known of either but the rows: what is looked for once a
 * second is found whatever was missed, and hints make it quick.
 */
export class PgMail implements SessionMail {
  readonly #parts: PgMailParts;
  readonly #receivers = new Map<string, MailReceiver>();
  /** Callers whose mail has no known end yet. */
  readonly #owed = new Map<number, (outcome: Outcome<unknown>) => void>();
  /** Mails that may be kept, of which this node has not heard. */
  #posting = 0;
  #oldest: { readonly mails: readonly OldestMail[]; readonly at: number } = { mails: [], at: 0 };
  #looks = 0;
  /** The look that is under way, and the one that is to follow it. */
  #looking: Promise<void> | undefined = undefined;
  #next: Promise<void> | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #unwake: (() => void) | undefined = undefined;
  #closed = false;

  constructor(parts: PgMailParts) {
    this.#parts = parts;
  }

  get oldest(): readonly OldestMail[] {
    const { mails, at } = this.#oldest;
    const sinceMs = this.#parts.clock.now() - at;
    return mails.map(({ session, waitMs }) => ({ session, waitMs: waitMs + sinceMs }));
  }

  /** Looks for mail from now on; holds no process. A second time it does nothing. */
  start(): void {
    if (this.#unwake !== undefined || this.#closed) return;
    const { node, runtime } = this.#parts;
    this.#unwake = node.onWake((hint) => {
      if (hint === undefined || hint === hintFor(runtime)) void this.look();
    });
    this.#arm();
  }

  close(): void {
    this.#closed = true;
    this.#parts.clock.clearTimeout(this.#timer);
    this.#unwake?.();
    this.#receivers.clear();
    this.#owed.clear();
  }

  serve(session: string, receiver: MailReceiver): void {
    this.#receivers.set(session, receiver);
  }

  /** A session was given back. */
  leave(session: string): void {
    this.#receivers.delete(session);
  }

  async post({ session, message, key, at, limit, ended }: OutgoingMail): Promise<Mailed> {
    const { database, runtime } = this.#parts;
    this.start();
    const values = [session, toJson(message), key ?? null, Math.round(at), runtime, limit];
    this.#posting++;
    const posted = await database.transact(
      async (batch): Promise<{ readonly mailed: Mailed; readonly owner: unknown } | undefined> => {
        const [row] = await batch.row(postMail, `mail to ${session}`, values);
        const { mail, fits, owner = null } = row ?? {};
        if (typeof mail === 'string') return { mailed: { mailed: 'kept', mail: Number(mail) }, owner };
        if (fits !== true || key === undefined) return { mailed: { mailed: 'full' }, owner };
        const [first] = await batch.row(overRows(firstOfKey), `mail to ${session}`, [session, key]);
        // It has just gone by its age: there is no id to tell.
        return first && { mailed: { mailed: 'duplicate', first: nameOf(first) }, owner };
      },
    );
    this.#posting--;
    if (posted === undefined) return { mailed: 'not_kept' };
    const { mailed, owner } = posted;
    if (mailed.mailed === 'kept') {
      this.#owed.set(mailed.mail, ended);
      if (typeof owner === 'string') this.wake([owner]);
    }
    return mailed;
  }

  /** Has runtimes look for mail, or for the ends of theirs. */
  wake(runtimes: Iterable<string>): void {
    for (const runtime of runtimes) {
      if (runtime === this.#parts.runtime) void this.look();
      else this.#parts.node.notify(hintFor(runtime));
    }
  }

  look(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    if (this.#looking === undefined) {
      this.#looking = this.#look().then(() => {
        this.#looking = undefined;
      });
      return this.#looking;
    }
    // The one that is under way may have read before that was written which is looked for.
    this.#next ??= this.#looking.then(() => {
      this.#next = undefined;
      return this.look();
    });
    return this.#next;
  }

  #arm(): void {
    if (this.#closed) return;
    const { clock, random } = this.#parts;
    // Not all nodes at once.
    const delayMs = lookEveryMs * (0.8 + random() * 0.4);
    this.#timer = clock.setTimeout(() => void this.#tick().then(() => this.#arm()), delayMs, { ref: false });
  }

  /** Never rejects. */
  async #tick(): Promise<void> {
    const looks = this.#looks++;
    await this.look();
    if (looks % oldestEvery === 0) await this.#findOldest();
    if (looks % sweepEvery === 0) this.#write(async (batch) => void (await batch.row(oldMail, 'old mail', [mostRows])));
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    await Promise.all([this.#handOver(), this.#settle()]);
  }

  async #handOver(): Promise<void> {
    if (this.#receivers.size === 0) return;
    const { database, runtime } = this.#parts;
    const busy = new Set<string>();
    for (let isMore = true; isMore; ) {
      const rows = await database.read(waitingMail, [runtime, [...busy], mostRows]);
      if (rows === undefined || this.#closed) return;
      for (const [session, mails] of bySession(rows)) {
        if (this.#receivers.get(session)?.receive(mails) !== true) busy.add(session);
      }
      // Mail that is being taken is taken then, and is not found again.
      isMore = rows.length === mostRows && (await database.flush());
    }
  }

  /** Tells senders here how their messages ended. */
  async #settle(): Promise<void> {
    if (this.#owed.size === 0) return;
    const { database, runtime } = this.#parts;
    for (let isMore = true; isMore; ) {
      const found = await database.read(endedMail, [runtime, mostRows]);
      if (found === undefined || this.#closed) return;
      // A mail may have ended before its sender heard that it is kept: a later look tells of it.
      const rows = this.#posting === 0 ? found : found.filter(({ id }) => this.#owed.has(Number(id)));
      if (rows.length === 0) return;
      this.#write(async (batch) => {
        await Promise.all(rows.map(({ id }) => batch.row(answeredMail, 'answered mail', [Number(id)])));
      });
      for (const { id, outcome } of rows) {
        const mail = Number(id);
        const ended = this.#owed.get(mail);
        this.#owed.delete(mail);
        ended?.(outcomeIn(outcome));
      }
      isMore = rows.length === mostRows && (await database.flush());
    }
  }

  async #findOldest(): Promise<void> {
    const rows = await this.#parts.database.read(oldestMail, [mostRows]);
    if (rows === undefined) return;
    const mails = rows.map((row) => ({ session: String(row['session']), waitMs: Number(row['wait_ms']) }));
    this.#oldest = { mails, at: this.#parts.clock.now() };
  }

  #write(run: (batch: BatchRows) => Promise<void>): void {
    const { database } = this.#parts;
    if (!database.degraded) database.write({ run });
  }
}

/** Gives the hint for a runtime that has mail, or the ends of its own. */
const hintFor = (runtime: string): string => `mail ${runtime}`;

function bySession(rows: readonly PgRow[]): ReadonlyMap<string, readonly IncomingMail[]> {
  const found = new Map<string, IncomingMail[]>();
  for (const row of rows) {
    const message = messageIn(String(row['body']));
    // A damaged one is taken with the next claim, and is a dead letter then.
    if (message === undefined) continue;
    const { key } = row;
    const session = String(row['session']);
    const mail = { mail: Number(row['id']), message, key: typeof key === 'string' ? key : undefined };
    const mails = found.get(session);
    if (mails === undefined) found.set(session, [mail]);
    else mails.push(mail);
  }
  return found;
}
