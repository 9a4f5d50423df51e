import type { Session, Turn } from '../../../../src/index.ts';
import type { Host } from '../host.ts';
import type { Part, PartMaker } from '../part.ts';
import type { WholeWorld } from '../wholeWorld.ts';
import { deskProgram, type DeskBooks } from './deskProgram.ts';
import { People } from './people.ts';

/** What is done in a turn; the same at each delivery of its message. */
type Deed = 'slow' | 'again' | 'ask' | 'work' | 'hang' | 'throw';

interface Row {
  readonly name: string;
  readonly deeds: readonly Deed[];
  /** When it was said to be kept; undefined while it was not. */
  keptAt: number | undefined;
  deliveries: number;
  ended: number;
}

const ids = ['alice', 'bob'];
const toolCallMs = 60_000;

/** Sessions with messages that are kept, tools whose answers come late, and questions to people. */
class SessionPart implements Part {
  readonly steps = [
    [6, () => this.#send(this.#world.chance.pick(ids), this.#deeds())],
    [2, () => void this.#people.answerSome()],
    [0.5, () => void this.#people.answerSome(true)],
  ] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  readonly #books: DeskBooks;
  readonly #people: People;
  readonly #rows = new Map<string, Row>();
  readonly #sessions = new Map<string, Session>();
  #last = 0;

  constructor(world: WholeWorld, books: DeskBooks) {
    this.#world = world;
    this.#books = books;
    this.#people = new People(world);
  }

  declare({ gateway }: Host): void {
    const limits = { idleMs: 3000, attemptMs: 5000, overallMs: 20_000 };
    gateway.mcpServer('desk', {
      command: process.execPath,
      args: ['sim:desk'],
      policy: { limits, breaker: { resetTimeoutMs: 5000, maxOpenMs: 60_000 } },
    });
    for (const id of ids) {
      const session = gateway.session(id, {
        onMessage: ({ data }, turn) => this.#process(String(data), turn),
        watchdog: { toolCallMs, turnMs: 300_000, releaseMs: 5000, recoveryMs: 10_000 },
        recovery: { maxDeliveries: 100 },
      });
      this.#sessions.set(id, session);
    }
  }

  ask(): void {
    for (const id of ids) this.#send(id, ['slow', 'again', 'ask']);
    void this.#people.answerSome();
  }

  killed(): void {
    this.#books.allowAll();
    this.#people.forget();
  }

  async checkQuiet(): Promise<void> {
    const { judge, open, disk } = this.#world;
    const states = new Map(
      disk
        .rows('SELECT body, state FROM unwedge_messages')
        .map(({ body, state }) => [nameIn(String(body)), String(state)]),
    );
    for (const { name, keptAt } of this.#rows.values()) {
      const isForgiven = keptAt === undefined || keptAt >= (disk.lostSince ?? Number.POSITIVE_INFINITY);
      const state = states.get(name) ?? 'lost';
      judge.expect(
        isForgiven || state === 'done' || state === 'failed',
        'I-5',
        () => `${name} was kept and is ${state}`,
      );
    }
    const [call] = disk.rows(`SELECT id FROM unwedge_calls WHERE state = 'pending'`);
    judge.expect(call === undefined, 'Q-2', () => `the call ${String(call?.['id'])} has no result for ever`);
    for (const id of ids) {
      const why = open?.gateway.why(id);
      judge.expect(
        why?.state === 'idle' && why.waiting === 0,
        'Q-2',
        () => `${id} is ${why?.state}, ${why?.waiting} wait`,
      );
      judge.expect((why?.kept ?? []).length === 0, 'Q-2', () => `${id} keeps ${why?.kept?.[0]?.tool} for ever`);
      judge.expect(why?.questions.length === 0, 'Q-2', () => `${id} asks ${why?.questions[0]?.what} for ever`);
    }
    await this.#people.checkQuiet();
  }

  #deeds(): readonly Deed[] {
    const { chance } = this.#world;
    const all = ['slow', 'slow', 'again', 'again', 'ask', 'work', 'hang', 'throw'] as const;
    return Array.from({ length: chance.integer(1, 4) }, () => chance.pick(all));
  }

  #send(id: string, deeds: readonly Deed[]): void {
    const { open, chance, clock, trace } = this.#world;
    const session = this.#sessions.get(id);
    if (open === undefined || session === undefined) return;
    const name = `${id}.${++this.#last}`;
    const row: Row = { name, deeds, keptAt: undefined, deliveries: 0, ended: 0 };
    this.#rows.set(name, row);
    this.#world.calls++;
    trace.note(`send ${name} to ${deeds.join(' ')}`);
    const key = chance.happens(0.3) ? { key: name } : {};
    void session.send({ kind: 'user', data: name }, key).then((acceptance) => {
      if (!open.isAlive) return;
      trace.note(`${name} is ${acceptance.accepted ? `accepted, durable: ${acceptance.durable}` : acceptance.reason}`);
      if (acceptance.accepted && acceptance.durable) row.keptAt = clock.now();
    });
  }

  async #process(name: string, turn: Turn): Promise<string> {
    const { host, judge, trace } = this.#world;
    const row = this.#rows.get(name);
    if (host?.isAlive !== true || row === undefined) return new Promise(() => undefined);
    trace.note(`${name} is taken, delivery ${turn.delivery}`);
    row.deliveries++;
    if (turn.delivery > 1) this.#books.allow(name);
    judge.expect(
      row.ended === 0 || this.#world.disk.lostSince !== undefined,
      'I-5',
      () => `${name} is taken after its end`,
    );
    for (const [index, deed] of row.deeds.entries()) {
      await this.#do(deed, `${name}.${deed === 'again' ? 'slow' : index}`, name, turn);
      if (!host.isAlive) return new Promise(() => undefined);
    }
    // Nothing of a process that is dead comes to an end; what is ended is on record by the time that it is told.
    turn.signal.throwIfAborted();
    void turn.done().then((isKept) => {
      if (host.isAlive && isKept) row.ended++;
    });
    return name;
  }

  async #do(deed: Deed, token: string, message: string, turn: Turn): Promise<void> {
    const { chance, clock, host } = this.#world;
    const wait = (ms: number): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, ms));
    if (deed === 'ask') await this.#people.ask(token, turn);
    else if (deed === 'work') await wait(chance.span(1, 5000));
    else if (deed === 'hang')
      await new Promise((_, reject) => turn.signal.addEventListener('abort', reject, { once: true }));
    else if (deed === 'throw') throw new Error('the handler fails');
    else {
      const ended = this.#world.asked.begin(`${token} as delivery ${turn.delivery}`, toolCallMs);
      const result = await turn.tool('desk', 'slow', { token, message });
      if (host?.isAlive !== true) return;
      ended(result.status === 'ok' ? `ok${result.joined === true ? ', joined' : ''}` : result.error);
      this.#books.told(token, result);
    }
  }
}

const nameIn = (body: string): string => (JSON.parse(body) as { readonly data?: string }).data ?? '';

export const sessionMaker: PartMaker = {
  programs: (world) => ({ 'sim:desk': deskProgram(world) }),
  make: (world) => new SessionPart(world, deskProgram.books(world)),
};
