import { randomUUID } from 'node:crypto';
import type { Incarnations } from '../../src/calls/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import type { Facts } from '../../src/policy/facts/face.ts';
import { createSessionRecord } from '../wire/sessionRecord.ts';
import type { Runtime } from '../../src/runtime/face.ts';
import { HandshakeOnRecord } from './handshakeOnRecord.ts';
import type { ClientStreams } from '../wire/serverLines.ts';
import type { HandshakeShelf } from '../wire/recordedHandshake.ts';
import { type Line, Outlet } from './outlet.ts';
import type { ProxySettings } from './settings.ts';
import { LargeResults } from '../../src/integrations/mcp/face.ts';
import { ToldResults } from './toldResults.ts';
import type { TrafficLog } from './trafficLog.ts';
import type { Wire } from './wire.ts';

/** Voice of a proxy towards people. */
export interface ProxyVoice {
  /** Gets what the server writes to stderr, and to stdout outside the protocol. */
  readonly errors: (chunk: Uint8Array | string) => void;
  readonly say: (line: string) => void;
  readonly hide: (text: string) => string;
  readonly log?: TrafficLog | undefined;
  /** Resolves once the store was opened, or could not be. @defaultValue it is open, or there is none */
  readonly stored?: Promise<void> | undefined;
  /** Handshakes of earlier proxies of the same command. @defaultValue none: the client waits for its server */
  readonly handshakes?: HandshakeShelf | undefined;
}

/** Parts that all of one proxy shares. */
export class ProxyScope {
  readonly runtime: Runtime;
  readonly settings: ProxySettings;
  readonly name: string;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly voice: ProxyVoice;
  readonly log: TrafficLog | undefined;
  /** Agreement of client and server. */
  readonly record = createSessionRecord();
  /** By it the client is answered before there is a server; undefined where nothing is kept. */
  readonly recorded: HandshakeOnRecord | undefined;
  /** The connection of its client, as calls know it that wait for each other; undefined where it is that of several clients. */
  readonly session: string | undefined;
  /** The processes of its server; undefined where that may go on when they have ended. */
  readonly incarnations: ProcessIncarnations | undefined;
  readonly outlet: Outlet;
  readonly told: ToldResults;
  /** Owner of its large results. */
  readonly owner: string;
  /** The server of the moment, whether or not it takes requests yet. */
  wire: Wire | undefined = undefined;
  /** True while there is a server that takes requests. */
  isUp = false;
  /** Last words of the last server that ended with words of its own. */
  lastStderr = '';
  readonly #nonce = randomUUID().slice(0, 8);
  #lastId = 0;

  constructor(
    runtime: Runtime,
    settings: ProxySettings,
    voice: ProxyVoice & Pick<ClientStreams, 'isShared' | 'client'>,
    write: (line: Line) => void,
  ) {
    this.runtime = runtime;
    this.settings = settings;
    this.name = settings.name;
    this.clock = runtime.clock;
    this.facts = runtime.bus;
    this.voice = voice;
    this.log = voice.log;
    this.session = voice.isShared === true ? undefined : `${settings.name}-${this.#nonce}`;
    this.incarnations = settings.server.mayGoOn ? undefined : new ProcessIncarnations();
    this.outlet = new Outlet((line) => {
      write(line);
      return true;
    });
    const { record, outlet } = this;
    const { maxResult } = this.session === undefined ? {} : settings;
    const results = maxResult === undefined ? undefined : new LargeResults(runtime, settings.name, maxResult);
    this.owner = voice.client?.owner ?? this.session ?? '';
    void runtime.results.sweepGone();
    this.told = new ToldResults({ results, owner: this.owner, record, outlet });
    const { handshakes: shelf } = voice;
    // Several clients that nobody tells apart have shaken hands in ways of their own.
    if (shelf !== undefined && voice.isShared !== true) {
      const { clock } = this;
      const mostFailures = settings.policy.retry.maxAttempts;
      this.recorded = new HandshakeOnRecord({ shelf, record, later: (work) => clock.nextTurn(work), mostFailures });
    }
  }

  /** An id of a request that neither side uses. */
  nextId(): string {
    return `unwedge-${this.#nonce}-${++this.#lastId}`;
  }
}

/** The processes of a server, one after another. One whose end nobody told of is not known to be gone. */
class ProcessIncarnations implements Incarnations {
  /** Incarnations that may be at work. */
  readonly #alive = new Set<number>();
  #last = 0;

  get current(): number | undefined {
    return this.#last === 0 ? undefined : this.#last;
  }

  isGone(incarnation: number | undefined): boolean {
    return incarnation !== undefined && incarnation <= this.#last && !this.#alive.has(incarnation);
  }

  /** Begins one. @returns its number. */
  begins(): number {
    this.#last++;
    this.#alive.add(this.#last);
    return this.#last;
  }

  /** Nothing is left of one. @returns whether that is news. */
  ended(incarnation: number): boolean {
    return this.#alive.delete(incarnation);
  }
}
