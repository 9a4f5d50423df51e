import { Socket } from 'node:net';
import type { Clock, Random, Timer } from '../src/policy/face.ts';
import { type Logger, say } from '../src/policy/text/face.ts';
import { Hints, hintsIn } from './hints.ts';
import type { PgLoneClient, PgModule, PgRow } from './pgDriver.ts';
import { inSchema, type PgTarget } from './pgTarget.ts';
import { presenceKey } from './leaseStatements.ts';

/** Hints of so many ms are sent together. */
const togetherMs = 5;
/** Interval at which the connection is tried when nothing else is sent, and time that may be waited for an answer, in ms. */
const pingMs = 5_000;
const answerMs = 5_000;
/** First and longest wait before it is made again, in ms. */
const firstRetryMs = 100;
const longestRetryMs = 5_000;
/** Time that its end may take, in ms. */
const endMs = 500;

/** The server lets go of a connection whose machine has vanished: its presence would stay, and what nobody reads would pile up. */
const keepAlive = 'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3';

/** Told of each hint of another node; undefined when anything may have happened: hints were missed, or were too many. Must not throw. */
export type WakeListener = (hint: string | undefined) => void;

export interface NodeConnectionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger | undefined;
}

interface Link {
  readonly client: PgLoneClient;
  /** Its end is at once, that of the client waits for the server. */
  readonly socket: Socket;
  /** Runtimes whose presence it holds. */
  readonly present: Set<string>;
  isUp: boolean;
}

/**
 * The connection of a node that is its own, beside the pool and straight to the server. It holds the presence of the node, a lock that goes with the
 * connection, and hears the hints of other nodes. All of it is a hint: without it nothing but time is lost. It is made again for as long as
 * it takes; it does not hold the process.
 */
export class NodeConnection {
  readonly #pg: PgModule;
  readonly #target: PgTarget;
  readonly #options: NodeConnectionOptions;
  readonly #runtimes = new Set<string>();
  readonly #listeners = new Set<WakeListener>();
  readonly #lost = new Set<() => void>();
  readonly #hints = new Hints();
  readonly #channel: string;
  readonly #presence: string;
  /** The one that is there, or is being made. */
  #link: Link | undefined = undefined;
  #state: 'off' | 'on' | 'closed' = 'off';
  #tries = 0;
  #wasUp = false;
  #sentAt = Number.NEGATIVE_INFINITY;
  #retry: Timer | undefined = undefined;
  #ping: Timer | undefined = undefined;
  #sending: Timer | undefined = undefined;

  constructor(pg: PgModule, target: PgTarget, options: NodeConnectionOptions) {
    this.#pg = pg;
    this.#target = target;
    this.#options = options;
    this.#channel = `unwedge ${target.schema}`.slice(0, 63);
    this.#presence = inSchema(presenceKey('$1'), target.schema);
    if (target.direct === undefined) this.#state = 'closed';
  }

  /** Holds the presence of a runtime, from the next connection on too. */
  present(runtime: string): void {
    if (this.#runtimes.has(runtime)) return;
    this.#runtimes.add(runtime);
    this.#start();
    if (this.#link?.isUp === true) void this.#lock(this.#link, runtime);
  }

  /** Tells whether the presence of a runtime is held, as far as is known here. */
  isPresent(runtime: string): boolean {
    return this.#link?.present.has(runtime) === true;
  }

  /** Lets go of the presence of a runtime that has left. */
  absent(runtime: string): void {
    if (!this.#runtimes.delete(runtime)) return;
    if (this.#link?.present.delete(runtime) !== true) return;
    void this.#ask(this.#link, `SELECT pg_advisory_unlock_shared(${this.#presence})`, [runtime]);
  }

  /** Tells other nodes, soon, and together with what else there is to tell. Without a connection it is told with the next. */
  notify(hint: string): void {
    if (this.#state === 'closed') return;
    this.#hints.add(hint);
    this.#start();
    this.#plan();
  }

  /** @returns how the listener leaves. */
  onWake(listener: WakeListener): () => void {
    this.#listeners.add(listener);
    this.#start();
    return () => void this.#listeners.delete(listener);
  }

  /** @param listener - told when a presence that was held is not any more. Must not throw. @returns how it leaves. */
  onLost(listener: () => void): () => void {
    this.#lost.add(listener);
    return () => void this.#lost.delete(listener);
  }

  /** Sends what waits and ends; within half a second, whatever the network does. Never rejects. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const { clock } = this.#options;
    for (const timer of [this.#retry, this.#ping, this.#sending]) clock.clearTimeout(timer);
    const link = this.#link;
    this.#link = undefined;
    if (link === undefined) return;
    if (!link.isUp) {
      link.socket.destroy();
      return;
    }
    await new Promise<void>((resolve) => {
      const late = clock.setTimeout(resolve, endMs, { ref: true });
      const ended = (): void => {
        clock.clearTimeout(late);
        resolve();
      };
      void this.#sendHints(link)
        .then(() => link.client.end())
        .then(ended, ended);
    });
    link.socket.destroy();
  }

  #start(): void {
    if (this.#state !== 'off') return;
    this.#state = 'on';
    void this.#connect();
  }

  /** Never rejects. */
  async #connect(): Promise<void> {
    const socket = new Socket();
    const client = new this.#pg.Client({
      connectionString: this.#target.direct,
      application_name: 'unwedge node',
      stream: () => socket,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    });
    const link: Link = { client, socket, present: new Set(), isUp: false };
    this.#link = link;
    client.on('error', (error) => this.#drop(link, error));
    client.on('end', () => this.#drop(link));
    client.on('notification', ({ processId, payload }) => {
      if (processId !== client.processID) this.#wake(payload === undefined ? undefined : hintsIn(payload));
    });
    try {
      await client.connect();
      client.unref();
      const [row] = await answered(client, 'SELECT pg_backend_pid() AS pid');
      if (Number(row?.['pid']) !== client.processID) {
        this.#isPooled(link);
        return;
      }
      await Promise.all([answered(client, keepAlive), answered(client, `LISTEN "${this.#channel}"`)]);
      this.#up(link);
    } catch (error) {
      this.#drop(link, error);
    }
  }

  #up(link: Link): void {
    if (this.#link !== link) return;
    link.isUp = true;
    for (const runtime of this.#runtimes) void this.#lock(link, runtime);
    if (this.#wasUp) say(this.#options.logger, 'info', 'The connection of this node to its database is there again.');
    this.#wasUp = true;
    this.#tries = 0;
    this.#planPing(link);
    this.#plan();
    // Anything told before it listened was missed.
    this.#wake(undefined);
  }

  /** A lock would stay on a connection that others are given, and no hint would come. */
  #isPooled(link: Link): void {
    if (this.#link !== link) return;
    this.#state = 'closed';
    this.#link = undefined;
    link.socket.destroy();
    say(
      this.#options.logger,
      'warn',
      `${this.#target.shown} is a pooler: take-overs and messages between nodes take longer. Fix: direct=HOST:PORT of the server in the URL, or direct=false.`,
    );
  }

  async #lock(link: Link, runtime: string): Promise<void> {
    const text = `SELECT pg_advisory_lock_shared(${this.#presence})`;
    if ((await this.#ask(link, text, [runtime])) !== undefined && this.#runtimes.has(runtime))
      link.present.add(runtime);
  }

  #plan(): void {
    if (this.#sending !== undefined || this.#link?.isUp !== true || this.#hints.isEmpty) return;
    const { clock } = this.#options;
    const delayMs = Math.max(0, this.#sentAt + togetherMs - clock.now());
    this.#sending = clock.setTimeout(() => {
      this.#sending = undefined;
      if (this.#link?.isUp === true) void this.#sendHints(this.#link);
    }, delayMs);
  }

  async #sendHints(link: Link): Promise<void> {
    if (this.#hints.isEmpty) return;
    this.#sentAt = this.#options.clock.now();
    await this.#ask(link, 'SELECT pg_notify($1, $2)', [this.#channel, this.#hints.take()]);
  }

  #planPing(link: Link): void {
    this.#ping = this.#options.clock.setTimeout(() => {
      void this.#ask(link, 'SELECT 1').then(() => {
        if (this.#link === link) this.#planPing(link);
      });
    }, pingMs);
  }

  /** Never rejects; undefined when there is no answer, and no connection any more. */
  async #ask(link: Link, text: string, values?: readonly unknown[]): Promise<readonly PgRow[] | undefined> {
    try {
      return await answered(link.client, text, values);
    } catch (error) {
      this.#drop(link, error);
      return undefined;
    }
  }

  /** Lets go of a connection, and makes the next. A second time it does nothing. */
  #drop(link: Link, error?: unknown): void {
    link.socket.destroy();
    if (this.#link !== link) return;
    this.#link = undefined;
    const { clock, random, logger } = this.#options;
    clock.clearTimeout(this.#ping);
    if (link.isUp) {
      const why = error instanceof Error ? `: ${error.message}` : '';
      say(logger, 'info', `The connection of this node to its database is lost${why}. It is made again.`);
    }
    const backoffMs = Math.min(firstRetryMs * 2 ** this.#tries++, longestRetryMs);
    this.#retry = clock.setTimeout(
      () => {
        this.#retry = undefined;
        void this.#connect();
      },
      backoffMs * (0.5 + random() / 2),
    );
    if (link.present.size > 0) for (const listener of this.#lost) listener();
  }

  #wake(hints: readonly string[] | undefined): void {
    for (const listener of this.#listeners) {
      if (hints === undefined) listener(undefined);
      else for (const hint of hints) listener(hint);
    }
  }
}

async function answered(client: PgLoneClient, text: string, values?: readonly unknown[]): Promise<readonly PgRow[]> {
  return (await client.query({ text, values })).rows;
}
