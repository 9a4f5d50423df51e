import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/policy/face.ts';
import { HttpSession } from './httpSession.ts';
import { type OpenServer, ServerLines } from '../wire/serverLines.ts';
import type { SharedServer } from './sharedServer.ts';

export interface HttpSessionsOptions {
  readonly clock: Clock;
  /** Starts a server for one session, or one for all of them. */
  readonly open: OpenServer;
  /** The one server of all sessions; undefined when each has its own. */
  readonly server: SharedServer | undefined;
  /** A session ends after so long without a request or an open stream, in ms. */
  readonly sessionMs: number;
  /** Sessions at a time. */
  readonly maxSessions: number;
}

/** A client that is there keeps its stream open, or opens it again within seconds. After so long without it is taken for gone where its place is needed, in ms. */
const goneMs = 60_000;

/** The sessions of the moment, by their ids. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #open = new Map<string, HttpSession>();
  /** Sessions whose server has not ended yet count as well: they are what a session costs. */
  readonly #closing = new Set<HttpSession>();

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  get(id: string): HttpSession | undefined {
    return this.#open.get(id);
  }

  /** Begins a session; undefined when there are as many as there may be. */
  open(): HttpSession | undefined {
    const { clock, open, server, sessionMs, maxSessions } = this.#options;
    if (this.#open.size >= maxSessions) this.#makeRoom();
    if (this.#open.size + this.#closing.size >= maxSessions * 2 || this.#open.size >= maxSessions) return undefined;
    const session = new HttpSession({
      // 144 bits of chance.
      id: randomBytes(18).toString('base64url'),
      clock,
      idleMs: sessionMs,
      alone: server === undefined,
      connect: (listener) => server?.attach(listener) ?? new ServerLines(open, listener),
      ended: (ended) => {
        this.#open.delete(ended.id);
        this.#closing.add(ended);
        void ended.closed.then(() => this.#closing.delete(ended));
      },
    });
    this.#open.set(session.id, session);
    return session;
  }

  /** Ends what is left of their streams. */
  close(): void {
    for (const session of [...this.#open.values(), ...this.#closing]) session.over();
  }

  #makeRoom(): void {
    const before = this.#options.clock.now() - goneMs;
    const gone = [...this.#open.values()].filter(({ leftAt }) => leftAt !== undefined && leftAt < before);
    gone.sort((a, b) => (a.leftAt ?? 0) - (b.leftAt ?? 0))[0]?.end();
  }
}
