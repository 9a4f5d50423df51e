import { hostname } from 'node:os';
import type { Clock, Random, Retention } from '../src/policy/face.ts';
import type { Facts } from '../src/policy/facts/face.ts';
import type { Logger } from '../src/policy/text/face.ts';
import type { SessionStore } from '../src/sessions/face.ts';
import { Pruner, type RuntimeIdentity, type Store, StoreUnavailableError, step } from '../src/store/face.ts';
import { KeptRuntimes, TableStore } from '../src/store/tables/face.ts';
import { removeNode, removeOldNodes } from './leaseStatements.ts';
import { Leases, type NodeDescription } from './leases.ts';
import { NodeConnection } from './nodeConnection.ts';
import { PgBreakers } from './pgBreakers.ts';
import { PgConnections } from './pgConnections.ts';
import { PgDatabase } from './pgDatabase.ts';
import { importPg, type PgModule } from './pgDriver.ts';
import { PgEvents } from './pgEvents.ts';
import { PgMail } from './pgMail.ts';
import { PgRates } from './pgRates.ts';
import { prunedDatabase } from './pgRetention.ts';
import { PgSessions } from './pgSessions.ts';
import { UnfitDatabaseError } from './pgSettings.ts';
import { PgTables } from './pgTables.ts';
import { type PgTarget, readTarget } from './pgTarget.ts';
import { SharedCopies } from './sharedRows.ts';
import { releasedHint } from './takeovers.ts';

/** Connections for reads and the commits of the queue. Renewals have one of their own, which no long read holds up. */
const mostConnections = 4;

/** A renewal that is not answered is asked for again, on another connection, while there is time. In ms. */
const shortestAnswerMs = 250;

/** Time that the end of a store waits for its server, in ms. */
const closeMs = 5_000;

/** Time that a node that has expired is shown, in minutes. */
const forgottenMinutes = 60;

/** Its sessions are nobody's until it can say whose they are. */
const startBefore =
  "start before it can be had: `store: { path: 'postgres://…', required: false }`; sessions refuse messages until it can";

export interface PostgresOptions {
  /** With its password. */
  readonly url: string;
  readonly required: boolean;
  readonly retention: Retention | undefined;
  readonly runtimePid: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts;
  readonly logger: Logger | undefined;
}

/**
 * Opens a database as a store; one that cannot be reached gives a degraded store that tries again.
 * @throws RangeError when the URL is wrong.
 * @throws {@link StoreUnavailableError} when it is `required` and cannot be had, and where the package `pg` is missing.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const target = readTarget(options.url);
  const store = new PostgresStore(await importPg(target.shown), target, options);
  await store.open(options.required);
  return store;
}

/** A store in a PostgreSQL database that any number of nodes may share. */
export class PostgresStore extends TableStore implements Store {
  readonly kind = 'postgres';
  readonly breakers: PgBreakers;
  readonly rates: PgRates;
  readonly runtimes: KeptRuntimes;
  /** Connection by which other nodes are told, and tell. */
  readonly node: NodeConnection;
  readonly #target: PgTarget;
  readonly #options: PostgresOptions;
  readonly #renewals: PgConnections;
  readonly #database: PgDatabase;
  readonly #events: PgEvents;
  readonly #copies: SharedCopies;
  readonly #pruner: Pruner | undefined;
  /** For what is deleted: made when it is needed, no commit waits for it. */
  readonly #chores: PgConnections;
  readonly #leases = new Map<string, Leases>();
  readonly #mails = new Map<string, PgMail>();

  constructor(pg: PgModule, target: PgTarget, options: PostgresOptions) {
    const { runtimePid, clock } = options;
    const database = new PgDatabase(new PgConnections(pg, target, mostConnections), target.shown, options);
    const events = new PgEvents(database, runtimePid);
    const tables = new PgTables(database, events);
    super(target.shown, database, events, tables);
    this.#target = target;
    this.#options = options;
    this.node = new NodeConnection(pg, target, options);
    this.#renewals = new PgConnections(pg, target, 1, Math.max(shortestAnswerMs, target.leaseMs / 3));
    this.#database = database;
    this.#events = events;
    this.breakers = new PgBreakers(database, clock);
    this.rates = new PgRates(database);
    this.runtimes = new KeptRuntimes(tables, {
      entered: () => [step(removeOldNodes, 'nodes', { minutes: forgottenMinutes })],
      leaves: (id) => this.#left(id, false),
      left: (id) => [step(removeNode, `node ${id}`, { id })],
      gone: (id) => this.#left(id, true),
    });
    const { retention, facts } = options;
    this.#chores = new PgConnections(pg, target, 1);
    const engine = prunedDatabase(this.#chores, retention);
    this.#pruner = retention && new Pruner({ engine, clock, facts, retention });
    this.#copies = new SharedCopies(database, clock, [this.breakers, this.rates]);
  }

  /** @throws {@link StoreUnavailableError} when it is `required` and cannot be had. */
  async open(required: boolean): Promise<void> {
    if (required) await this.#haveToReach();
    await this.#database.start();
    await this.#copies.start();
    this.#pruner?.start();
  }

  sessions({ id: runtime }: RuntimeIdentity): SessionStore {
    const { clock, random } = this.#options;
    const { node } = this;
    const database = this.#database;
    const leases = this.#leases.get(runtime) ?? this.#enter(runtime);
    const mail = this.#mails.get(runtime) ?? new PgMail({ database, clock, random, node, runtime });
    this.#mails.set(runtime, mail);
    return new PgSessions({ database, events: this.#events, leases, mail, node, runtime, clock, random });
  }

  /** Takes what other nodes have changed of what they share now, rather than within a second. Never rejects. */
  look(): Promise<void> {
    return this.#copies.look();
  }

  /** Within some seconds, also when the server does not answer: what is not written by then is not. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    this.#copies.stop();
    const pruned = this.#pruner?.stop();
    for (const mail of this.#mails.values()) mail.close();
    const late = clock.setTimeout(() => this.#giveUp(), closeMs, { ref: true });
    await this.#database.close();
    for (const leases of this.#leases.values()) leases.close();
    await Promise.all([pruned, this.#renewals.close(), this.node.close()]);
    clock.clearTimeout(late);
  }

  #giveUp(): void {
    this.#database.giveUp(`${this.path} did not answer for ${closeMs} ms`);
    this.#renewals.cut();
    this.#chores.cut();
  }

  /** The runtime becomes a node. */
  #enter(owner: string): Leases {
    const { clock } = this.#options;
    const { node } = this;
    node.present(owner);
    const describe = (): NodeDescription => ({ host: hostname(), pid: process.pid, name: this.runtimes.nameOf(owner) });
    const leases = new Leases({
      connections: this.#renewals,
      node,
      clock,
      owner,
      leaseMs: this.#target.leaseMs,
      describe,
    });
    this.#leases.set(owner, leases);
    return leases;
  }

  #left(runtime: string, isFree: boolean): void {
    if (isFree) {
      this.node.notify(releasedHint);
      this.node.absent(runtime);
    } else {
      this.#leases.get(runtime)?.close();
      this.#leases.delete(runtime);
    }
  }

  async #haveToReach(): Promise<void> {
    try {
      await this.#database.prepare();
    } catch (error) {
      const { reason, fix } = this.#database.diagnose(error);
      const otherwise = error instanceof UnfitDatabaseError ? 'name another database' : startBefore;
      await Promise.all([this.#database.close(), this.#renewals.close()]);
      throw new StoreUnavailableError(reason, fix, error, otherwise);
    }
  }
}
