import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/policy/face.ts';
import type { Facts } from '../../src/policy/facts/face.ts';
import type { McpParams } from '../../src/protocol/mcp/face.ts';
import type { Runtime } from '../../src/runtime/face.ts';
import type { AgentLink } from './agentLink.ts';
import { AcpSessions } from './acpSessions.ts';
import type { AcpSettings } from './settings.ts';

/** Voice of a proxy towards people. */
export interface AcpVoice {
  /** Gets what the agent writes to stderr, and to stdout outside the protocol. */
  readonly errors: (chunk: Uint8Array | string) => void;
  readonly say: (line: string) => void;
  readonly hide: (text: string) => string;
}

/** Agreement of a client and its agent, by which another process of it is brought to where this one is. */
export interface Agreement {
  /** Params of the client's `initialize`. */
  asked: McpParams | undefined;
  /** Its result. */
  initialized: McpParams | undefined;
  /** Params of the `authenticate` that went well. */
  authenticated: McpParams | undefined;
}

/** Parts that all of one proxy shares. */
export class AcpScope {
  readonly runtime: Runtime;
  readonly settings: AcpSettings;
  readonly name: string;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly voice: AcpVoice;
  readonly sessions = new AcpSessions();
  readonly agreement: Agreement = { asked: undefined, initialized: undefined, authenticated: undefined };
  /** Gives the client a line. */
  readonly toClient: (line: Uint8Array | string) => void;
  /** The agent of the moment, ready or not. */
  link: AgentLink | undefined = undefined;
  /** Last words of the last agent that ended with words of its own. */
  lastStderr = '';
  readonly #nonce = randomUUID().slice(0, 8);
  #lastId = 0;

  constructor(runtime: Runtime, settings: AcpSettings, voice: AcpVoice, toClient: AcpScope['toClient']) {
    this.runtime = runtime;
    this.settings = settings;
    this.name = settings.name;
    this.clock = runtime.clock;
    this.facts = runtime.bus;
    this.voice = voice;
    this.toClient = toClient;
  }

  /** An id of a request that neither side uses. */
  readonly nextId = (): string => `unwedge-${this.#nonce}-${++this.#lastId}`;
}
