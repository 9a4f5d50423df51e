import type { Kept, SessionStore } from '../../../src/sessions/sessionStore.ts';
import { journalled } from '../../cluster/journal.ts';
import type { Chance } from '../chance.ts';
import { endOf } from './mailJudge.ts';
import { NodeMail, type Receiving } from './nodeMail.ts';
import type { NodeParts, SimulatedNode } from './runNodes.ts';
import { type Mutate, SimulatedProcess } from './simulatedProcess.ts';

/** What a node was told of a write that has a mark of its own. */
export interface Answer {
  readonly what: 'message' | 'call' | 'result';
  readonly mark: string;
  kept: Kept | undefined;
}

/** A session as its node sees it. */
interface Owned extends Receiving {
  lastTurn: number;
  lastSeq: number;
  /** The message under way; its handler has it once that was answered. */
  taken:
    | { readonly number: number; readonly turn: number; isBegun: boolean; calls: string[]; made: number }
    | undefined;
}

/** A bug that is planted to see it found. */
export interface Plant {
  readonly mutate?: Mutate;
  /** A post is acknowledged before it is committed. */
  readonly acknowledgesEarly?: boolean;
  /** A message that has ended is delivered once more. */
  readonly deliversTwice?: boolean;
  /** A mail whose key is that of another message is taken all the same. */
  readonly joinsNoMail?: boolean;
}

/** One node of the simulation: a store, and what a gateway does with it, at moments and in an order that chance chooses. */
export class StoreNode extends SimulatedProcess implements SimulatedNode {
  readonly answers: Answer[] = [];
  readonly mail: NodeMail;
  readonly #ids: readonly string[];
  readonly #sessions: SessionStore;
  readonly #owned = new Map<string, Owned>();
  readonly #claiming = new Set<string>();
  readonly #chance: Chance;
  readonly #plant: Plant;
  pending = 0;
  #marks = 0;

  constructor(name: string, { note, plant, sessions: ids, ...parts }: NodeParts & { readonly plant: Plant }) {
    super(name, { ...parts, mutate: plant.mutate });
    const { chance } = parts;
    this.#chance = chance;
    this.#ids = ids;
    this.#plant = plant;
    const sessions = this.store.sessions({ id: name, isAlive: () => true });
    this.#sessions = journalled(sessions, name, (entry) => {
      if (!this.isDead) note(entry);
    });
    if (sessions.mail === undefined) throw new Error('The engine has no mail');
    this.mail = new NodeMail({
      ...{ node: name, mail: sessions.mail, chance, wallNow: () => this.clock.wallNow() },
      ask: (work) => this.#ask(work),
      isDead: () => this.isDead,
      joinsNone: plant.joinsNoMail === true,
    });
    this.#ask(() => this.store.open(false));
  }

  get messages(): number {
    return this.mail.sent.length;
  }

  /** Only where it was told that its mail is kept does it hear of the end: of another, the row goes by its age. */
  get isDone(): boolean {
    return this.mail.sent.every(({ answer, ends }) => answer?.mailed !== 'kept' || ends.length > 0);
  }

  override kill(): void {
    super.kill();
    this.pending = 0;
  }

  act(): void {
    const own = [...this.#owned.keys()];
    if (own.length === 0 || this.#chance.happens(0.15)) {
      const session = this.#chance.pick(this.#ids);
      if (!this.#owned.has(session)) this.#claim(session);
    }
    if (this.#chance.happens(0.3)) {
      const session = this.#chance.pick(this.#ids);
      if (!this.#owned.has(session)) this.mail.send(session, this.#mark());
    }
    if (this.#chance.happens(0.2)) this.mail.look();
    if (own.length === 0) return;
    for (let times = this.#chance.integer(1, 4); times > 0; times--) this.#actFor(this.#chance.pick(own));
  }

  #actFor(session: string): void {
    const owned = this.#owned.get(session);
    if (owned === undefined) return;
    const { taken, mailbox } = owned;
    const choices: [number, () => void][] = [[3, () => this.#post(session, owned)]];
    if (taken === undefined && mailbox.length > 0) choices.push([4, () => this.#take(session, owned)]);
    if (taken?.isBegun === true) {
      choices.push([3, () => this.#open(session, owned, taken)], [3, () => this.#end(session, owned, taken)]);
      if (taken.calls.length > 0) choices.push([4, () => this.#settle(owned, taken)]);
    }
    if (taken === undefined) choices.push([0.3, () => this.#release(session, owned)]);
    this.#chance.weighted(choices)();
  }

  drain(): void {
    this.mail.look();
    for (const session of this.#ids) {
      const owned = this.#owned.get(session);
      const { taken, mailbox } = owned ?? {};
      if (owned === undefined) this.#claim(session);
      else if (taken?.isBegun === true) this.#end(session, owned, taken, true);
      // The answer to its delivery was lost: the next owner begins it again.
      else if (taken !== undefined && this.pending === 0) this.#release(session, owned);
      else if (taken === undefined && (mailbox?.length ?? 0) > 0) this.#take(session, owned);
    }
  }

  flush(): void {
    this.#ask(() => this.store.flush());
  }

  #claim(session: string): void {
    const limits = {
      maxDeliveries: 1_000_000,
      maxAgeMs: Number.MAX_SAFE_INTEGER,
      wallNow: this.clock.wallNow(),
      answer: () => ({ status: 'error', error: 'lost', retries: 0, recoverable: false }) as const,
      facts: () => [],
    };
    if (this.#claiming.has(session)) return;
    this.#claiming.add(session);
    this.#ask(async () => {
      const claim = await this.#sessions.claim(session, limits);
      this.#claiming.delete(session);
      if (claim === undefined || claim.held) return;
      const past = claim.past(100);
      if (past === undefined) return;
      const owned: Owned = {
        ledger: claim.ledger,
        ...past,
        keys: new Map(past.keys.map(([key, number]) => [key, number])),
        mailbox: claim.recovered.waiting.map(({ number }) => number),
        taken: undefined,
        isLeft: false,
      };
      this.#owned.set(session, owned);
      this.mail.serve(session, owned);
      claim.ledger.watch?.(() => this.#lost(session, owned));
    });
  }

  #post(session: string, owned: Owned): void {
    const mark = this.#mark();
    const key = this.mail.key() ?? (this.#chance.happens(0.5) ? `key of ${mark}` : undefined);
    if (key !== undefined && owned.keys.has(key)) return;
    const number = ++owned.lastMessage;
    if (key !== undefined) owned.keys.set(key, number);
    this.#write(session, owned, { what: 'message', mark }, () =>
      owned.ledger.post({ number, message: { kind: 'user', data: mark }, key, at: this.clock.wallNow() }),
    );
    if (this.#plant.acknowledgesEarly === true) {
      this.answers.push({ what: 'message', mark, kept: 'durable' });
    }
    owned.mailbox.push(number);
  }

  #take(session: string, owned: Owned): void {
    const number = owned.mailbox.shift() ?? 0;
    const taken = { number, turn: ++owned.lastTurn, isBegun: false, calls: [], made: 0 };
    owned.taken = taken;
    this.#write(
      session,
      owned,
      undefined,
      () => owned.ledger.take(number, taken.turn, ++owned.lastSeq, this.clock.wallNow()),
      () => {
        taken.isBegun = true;
      },
    );
  }

  #open(session: string, owned: Owned, taken: NonNullable<Owned['taken']>): void {
    const call = `${session}-${taken.turn}-${++taken.made}`;
    const mark = this.#mark();
    const at = this.clock.wallNow();
    const row = { call, turn: taken.turn, integration: 'work', tool: 'step', input: mark, effect: undefined };
    this.#write(
      session,
      owned,
      { what: 'call', mark },
      () => owned.ledger.open({ ...row, seq: ++owned.lastSeq, at, deadlineAt: at + 1000 }),
      () => taken.calls.push(call),
    );
  }

  #settle(owned: Owned, { calls }: NonNullable<Owned['taken']>): void {
    const call = calls.shift() ?? '';
    const mark = this.#mark();
    const session = call.split('-').slice(0, -2).join('-');
    this.#write(session, owned, { what: 'result', mark }, () =>
      owned.ledger.settle(call, { status: 'ok', value: mark, retries: 0 }, ++owned.lastSeq, this.clock.wallNow()),
    );
  }

  #end(session: string, owned: Owned, { number, calls }: NonNullable<Owned['taken']>, isLast = false): void {
    const { ledger } = owned;
    while (calls.length > 0 && owned.taken !== undefined) this.#settle(owned, owned.taken);
    owned.taken = undefined;
    if (!isLast && this.#chance.happens(0.15)) {
      owned.mailbox.unshift(number);
      this.#write(session, owned, undefined, () => ledger.putBack(number, true));
    } else {
      const outcome = { ok: true, value: endOf(session, number) } as const;
      this.#write(session, owned, undefined, () =>
        ledger.finish(number, 'done', this.clock.wallNow(), undefined, outcome),
      );
      if (this.#plant.deliversTwice === true && this.#chance.happens(0.1)) owned.mailbox.unshift(number);
    }
  }

  #release(session: string, owned: Owned): void {
    this.#lost(session, owned);
    this.#ask(() => owned.ledger.release());
  }

  #write(
    session: string,
    owned: Owned,
    marked: Omit<Answer, 'kept'> | undefined,
    write: () => Promise<Kept>,
    done: () => void = () => undefined,
  ): void {
    const answer: Answer | undefined = marked && { ...marked, kept: undefined };
    if (answer !== undefined) this.answers.push(answer);
    this.#ask(async () => {
      const kept = await write();
      if (this.isDead) return;
      if (answer !== undefined) answer.kept = kept;
      if (kept === 'fenced') this.#lost(session, owned);
      else if (!owned.isLeft) done();
    });
  }

  #lost(session: string, owned: Owned): void {
    owned.isLeft = true;
    if (this.#owned.get(session) === owned) this.#owned.delete(session);
  }

  #ask(work: () => Promise<unknown>): void {
    this.pending++;
    void work().finally(() => {
      this.pending--;
    });
  }

  #mark(): string {
    return `${this.name}/${++this.#marks}`;
  }
}
