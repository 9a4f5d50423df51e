import type { PgClient, PgModule, PgPool, PgQuery, PgRow } from '../../../postgres/pgDriver.ts';
import type { SimulatedClock } from '../../../testing/index.ts';
import type { Chance } from '../chance.ts';
import type { Pglite } from './pglite.ts';

/** How long the server waits for a client in the middle of a transaction, in ms: what the engine asks for at most. */
const idleMs = 5_000;
/** What ends a statement: serialisation failure, deadlock, cancelled. */
const passingErrors = ['40001', '40P01', '57014', '55P03'];

/** The process that has a connection. */
export interface ClientProcess {
  readonly name: string;
  /** Has something happen in the process: now, when it goes on, or never. */
  deliver(what: () => void): void;
  /** The text as a planted bug has it. */
  readonly mutate: (text: string) => string;
}

interface Pending {
  readonly query: PgQuery;
  readonly resolve: (rows: readonly PgRow[]) => void;
  readonly reject: (error: Error) => void;
}

/** Told before and after a statement, with its rows after it; not after one that failed. */
export type StatementWatch = (query: PgQuery, rows?: readonly PgRow[]) => Promise<void>;

/**
 * A PostgreSQL server for several processes of a simulation, in one real session: a transaction at a time, which one next and what goes wrong by
 * chance. `clock_timestamp()` is the time of the simulation.
 */
export class SimulatedServer {
  readonly #database: Pglite;
  readonly #clock: SimulatedClock;
  readonly #chance: Chance;
  readonly #connections = new Set<SimulatedConnection>();
  #holder: SimulatedConnection | undefined = undefined;
  readonly #delayed: (() => void)[] = [];
  /** From now on nothing goes wrong. */
  isCalm = false;
  watch: StatementWatch = () => Promise.resolve();
  /** What went wrong how often. */
  readonly faults = { errors: 0, torn: 0, tornBeforeCommit: 0, tornAfterCommit: 0, hung: 0, late: 0 };

  constructor(database: Pglite, clock: SimulatedClock, chance: Chance) {
    this.#database = database;
    this.#clock = clock;
    this.#chance = chance;
  }

  /** The driver, for one process. */
  module(process: ClientProcess): PgModule {
    const connect = (answerMs: number): SimulatedConnection => {
      const connection = new SimulatedConnection(process, this.#clock, answerMs, () =>
        this.#connections.delete(connection),
      );
      this.#connections.add(connection);
      return connection;
    };
    const clock = this.#clock;
    const none = class {
      constructor() {
        throw new Error('No process of the simulation has a connection of its own');
      }
    };
    return {
      Pool: class extends SimulatedPool {
        constructor(options: Readonly<Record<string, unknown>>) {
          super(connect, clock, Number(options['max']), Number(options['query_timeout']));
        }
      },
      Client: none as unknown as PgModule['Client'],
    };
  }

  /** Whether a statement waits that can run. */
  get isBusy(): boolean {
    return this.#holder?.isBroken === true || this.#runnable().length > 0;
  }

  /** Runs one statement, or has something go wrong in its place. */
  async step(): Promise<void> {
    if (this.#holder?.isBroken === true) await this.#endTransaction();
    const runnable = this.#runnable();
    if (runnable.length === 0) return;
    const connection = this.#chance.pick(runnable);
    const [pending] = connection.queue;
    if (pending === undefined) return;
    const isCommit = this.#commits(connection, pending.query);
    if (this.#happens(isCommit ? 0.03 : 0.004)) {
      this.faults[isCommit ? 'tornBeforeCommit' : 'torn']++;
      await this.tear(connection);
      return;
    }
    if (this.#happens(0.008)) {
      this.faults.hung++;
      connection.isHung = true;
      this.#awaitClient(connection);
      if (this.#chance.happens(0.7)) this.#arriveLate(connection);
      return;
    }
    const answer = await this.#run(connection, pending.query);
    if (isCommit && this.#happens(0.04)) {
      this.faults.tornAfterCommit++;
      await this.tear(connection);
      return;
    }
    connection.answer(answer);
    if (this.#holder === connection && connection.queue.length === 0) this.#awaitClient(connection);
  }

  /** Whether the process has sent a write to a session that has not reached the server. */
  hasWrites(process: ClientProcess): boolean {
    return this.#sentBy(process).some(({ queue }) => queue.some(({ query }) => isFenced(query)));
  }

  /** What the process has sent is on its way until a session is taken over, or for so long, in ms: of some of it no answer comes back. */
  delay(process: ClientProcess, ms: number): void {
    for (const connection of this.#sentBy(process)) {
      connection.isHung = true;
      this.#delayed.push(this.#arriveLate(connection, ms, this.#chance.happens(0.5)));
    }
  }

  /** A session has another owner: what was delayed until then arrives. */
  takenOver(): void {
    for (const arrive of this.#delayed.splice(0)) arrive();
  }

  #sentBy(process: ClientProcess): readonly SimulatedConnection[] {
    return [...this.#connections].filter(
      (each) => each.process === process && each.queue.length > 0 && this.#holder !== each && !each.isHung,
    );
  }

  /** The connections of a process are gone with it; what it has sent may reach the server later. */
  async leave(process: ClientProcess): Promise<void> {
    for (const connection of this.#connections) {
      if (connection.process !== process) continue;
      const isSent = connection.queue.length > 0 && this.#holder !== connection;
      if (!isSent || this.#chance.happens(0.3)) await this.tear(connection);
      else if (!connection.isHung) {
        connection.isHung = true;
        this.#arriveLate(connection);
      }
    }
  }

  async tear(connection: SimulatedConnection): Promise<void> {
    if (this.#holder === connection) await this.#endTransaction();
    connection.break();
  }

  #runnable(): readonly SimulatedConnection[] {
    return [...this.#connections].filter((connection) => {
      const [first] = connection.queue;
      if (first === undefined || connection.isHung) return false;
      return this.#holder === undefined || this.#holder === connection || isOver(first.query);
    });
  }

  /** What was sent reaches the server after all, often when its client has given it up; no answer reaches the client. */
  #arriveLate(connection: SimulatedConnection, ms = this.#chance.span(1, 5_000), isDeaf = true): () => void {
    const arrive = (): void => {
      if (connection.isBroken || !connection.isHung) return;
      this.faults.late++;
      connection.isHung = false;
      connection.isDeaf = isDeaf;
    };
    this.#clock.setTimeout(arrive, ms);
    return arrive;
  }

  /** Whether the statement ends a transaction that is kept: a COMMIT, or one that is a transaction by itself. */
  #commits(connection: SimulatedConnection, query: PgQuery): boolean {
    if (this.#holder === connection) return query.text === 'COMMIT';
    return !isOver(query) && !query.text.startsWith('BEGIN');
  }

  #happens(probability: number): boolean {
    return !this.isCalm && this.#chance.happens(probability);
  }

  async #run(connection: SimulatedConnection, query: PgQuery): Promise<readonly PgRow[] | Error> {
    const { text, values } = query;
    try {
      if (this.#holder !== connection && isOver(query)) return [];
      if (text.startsWith('BEGIN')) {
        this.#holder = connection;
        // Its limits are of real time: on a loaded machine they would end the one session there is.
        await this.#database.exec('BEGIN');
        return [];
      }
      if (isOver(query)) {
        this.#holder = undefined;
        await this.#database.exec(text);
        return [];
      }
      if (this.#happens(0.012)) await this.#fail();
      await this.watch(query);
      const written = connection.process.mutate(text).replaceAll('clock_timestamp()', () => this.#time());
      const rows = (
        values === undefined ? await this.#script(written) : (await this.#database.query(written, values)).rows
      ) as readonly PgRow[];
      await this.watch(query, rows);
      return rows;
    } catch (error) {
      return error as Error;
    }
  }

  async #script(text: string): Promise<readonly Record<string, unknown>[]> {
    await this.#database.exec(text);
    return [];
  }

  async #fail(): Promise<void> {
    this.faults.errors++;
    const code = this.#chance.pick(passingErrors);
    await this.#database.exec(`DO $$ BEGIN RAISE EXCEPTION 'simulated' USING ERRCODE = '${code}'; END $$`);
  }

  #time(): string {
    return `TIMESTAMPTZ '${new Date(this.#clock.wallNow()).toISOString()}'`;
  }

  /** A client that says nothing for so long loses its transaction. */
  #awaitClient(connection: SimulatedConnection): void {
    const count = connection.answered;
    this.#clock.setTimeout(() => {
      if (this.#holder === connection && connection.answered === count) void this.tear(connection);
    }, idleMs);
  }

  async #endTransaction(): Promise<void> {
    this.#holder = undefined;
    await this.#database.exec('ROLLBACK');
  }
}

/** Whether a statement writes to sessions under their leases. */
export function isFenced({ text }: PgQuery): boolean {
  return text.includes('FOR SHARE OF l');
}

function isOver({ text }: PgQuery): boolean {
  return text === 'COMMIT' || text === 'ROLLBACK';
}

export class SimulatedConnection implements PgClient {
  readonly process: ClientProcess;
  readonly queue: Pending[] = [];
  /** Nothing passes any more, and nobody is told. */
  isHung = false;
  /** What was sent is run, and nobody hears of it. */
  isDeaf = false;
  isBroken = false;
  answered = 0;
  released: (destroy: boolean) => void = () => undefined;
  readonly #clock: SimulatedClock;
  readonly #answerMs: number;
  readonly #ended: () => void;

  constructor(process: ClientProcess, clock: SimulatedClock, answerMs: number, ended: () => void) {
    this.process = process;
    this.#clock = clock;
    this.#answerMs = answerMs;
    this.#ended = ended;
  }

  query(query: PgQuery): Promise<{ readonly rows: readonly PgRow[] }> {
    return new Promise((resolve, reject) => {
      if (this.isBroken) {
        reject(broken());
        return;
      }
      let isOver = false;
      const late = this.#clock.setTimeout(
        () => this.process.deliver(() => end(() => reject(new Error('Query read timeout')))),
        this.#answerMs,
      );
      const end = (how: () => void): void => {
        if (isOver) return;
        isOver = true;
        this.#clock.clearTimeout(late);
        how();
      };
      this.queue.push({
        query,
        resolve: (rows) => end(() => resolve({ rows })),
        reject: (error) => end(() => reject(error)),
      });
    });
  }

  answer(given: readonly PgRow[] | Error): void {
    const pending = this.queue.shift();
    this.answered++;
    if (this.isDeaf) return;
    this.process.deliver(() => {
      if (given instanceof Error) pending?.reject(given);
      else pending?.resolve(given);
    });
  }

  break(): void {
    if (this.isBroken) return;
    this.isBroken = true;
    this.#ended();
    const lost = this.queue.splice(0);
    this.process.deliver(() => {
      for (const { reject } of lost) reject(broken());
    });
  }

  release(destroy = false): void {
    this.released(destroy);
  }

  on(): unknown {
    return undefined;
  }
}

abstract class SimulatedPool implements PgPool {
  readonly #connect: (answerMs: number) => SimulatedConnection;
  readonly #clock: SimulatedClock;
  readonly #most: number;
  readonly #answerMs: number;
  readonly #idle: SimulatedConnection[] = [];
  readonly #waiting: ((connection: SimulatedConnection) => void)[] = [];
  #used = 0;

  constructor(
    connect: (answerMs: number) => SimulatedConnection,
    clock: SimulatedClock,
    most: number,
    answerMs: number,
  ) {
    this.#connect = connect;
    this.#clock = clock;
    this.#most = most;
    this.#answerMs = answerMs;
  }

  connect(): Promise<PgClient> {
    if (this.#used < this.#most) {
      this.#used++;
      return Promise.resolve(this.#take());
    }
    return new Promise((resolve, reject) => {
      const wait = (connection: SimulatedConnection): void => {
        this.#clock.clearTimeout(late);
        resolve(connection);
      };
      const late = this.#clock.setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(wait), 1);
        reject(new Error('timeout exceeded when trying to connect'));
      }, this.#answerMs);
      this.#waiting.push(wait);
    });
  }

  end(): Promise<void> {
    for (const connection of this.#idle) connection.break();
    return Promise.resolve();
  }

  on(): unknown {
    return undefined;
  }

  #take(): SimulatedConnection {
    let connection = this.#idle.pop();
    while (connection?.isBroken === true) connection = this.#idle.pop();
    const taken = connection ?? this.#connect(this.#answerMs);
    taken.released = (destroy) => {
      taken.released = () => undefined;
      // What the client has closed the server notices when the transaction is over, or late.
      if (!destroy) this.#idle.push(taken);
      else if (!taken.isHung && !taken.isDeaf) taken.break();
      const next = this.#waiting.shift();
      if (next === undefined) this.#used--;
      else next(this.#take());
    };
    return taken;
  }
}

function broken(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
}
