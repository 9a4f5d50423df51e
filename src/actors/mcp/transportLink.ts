import { messageOf } from '../../policy/failures/thrown.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import type { ServerEnd, ServerLink, ServerLinkListener, ServerTarget } from './serverLink.ts';
import { callback, duration, type Given, type Values } from '../../policy/options/optionKeys.ts';

/** Longest message taken, in bytes, as of a process. */
const maxMessageBytes = 64 * 1024 * 1024;

/** A server that is reached by a transport of its own. */
export function transportTarget({ connect, handshakeMs, pingMs }: TransportSettings): ServerTarget {
  return {
    command: 'a transport',
    secrets: {},
    handshakeMs,
    pingMs,
    maxMessageBytes,
    // The connection is all that is known of it.
    mayGoOn: true,
    open: (_clock, listener) => new TransportLink(connect, listener),
  };
}

class TransportLink implements ServerLink {
  readonly pid = undefined;
  readonly exit = {};
  readonly isFull = false;
  readonly exited = Promise.resolve();
  readonly #connect: TransportSettings['connect'];
  readonly #listener: ServerLinkListener;
  #transport: McpServerTransport | undefined = undefined;
  #end: ServerEnd | undefined = undefined;
  /** Words that came while the output waits. */
  #held: string[] | undefined = undefined;

  constructor(connect: TransportSettings['connect'], listener: ServerLinkListener) {
    this.#connect = connect;
    this.#listener = listener;
  }

  get end(): ServerEnd | undefined {
    return this.#end;
  }

  async start(): Promise<void> {
    try {
      const transport = await this.#connect();
      transport.onmessage = (message: unknown) => this.#heard(message);
      transport.onclose = () => this.#lost('The server closed the connection');
      transport.onerror = (error) => this.#listener.errors(Buffer.from(`${messageOf(error)}\n`));
      // Its end was asked for meanwhile.
      if (this.#end !== undefined) {
        void quietly(transport.close());
        return;
      }
      this.#transport = transport;
      await transport.start();
    } catch (cause) {
      throw new AttemptError({ ...notStarted, message: `The transport was not started: ${messageOf(cause)}`, cause });
    }
    if (this.#end === undefined) this.#listener.started(undefined);
  }

  write(data: string | Uint8Array): boolean {
    const transport = this.#transport;
    if (this.#end !== undefined || transport === undefined) return false;
    for (const line of Buffer.from(data).toString('utf8').split('\n')) {
      if (line.trim() === '') continue;
      sent(transport, JSON.parse(line)).catch((error: unknown) =>
        this.#lost(`The transport failed: ${messageOf(error)}`),
      );
    }
    return true;
  }

  gather(): () => void {
    return () => undefined;
  }

  pauseOutput(): void {
    this.#held ??= [];
  }

  resumeOutput(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) this.#out(line);
  }

  endInput(): void {
    void this.close();
  }

  close(): Promise<void> {
    this.killNow();
    return Promise.resolve();
  }

  terminate(): Promise<void> {
    return this.close();
  }

  killNow(): void {
    this.finish({ fault: 'abandoned' });
  }

  finish(end: ServerEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const transport = this.#transport;
    if (transport !== undefined) void quietly(sentAway(transport));
    this.#listener.ended();
  }

  #heard(message: unknown): void {
    const line = `${JSON.stringify(message)}\n`;
    if (this.#held === undefined) this.#out(line);
    else this.#held.push(line);
  }

  #out(line: string): void {
    if (this.#end === undefined) this.#listener.output(Buffer.from(line));
  }

  #lost(message: string): void {
    this.finish({ facts: { kind: 'crash', reason: 'connection_lost', message, outcome: 'unknown' } });
  }
}

const notStarted: Omit<FailureFacts, 'message'> = {
  kind: 'crash',
  reason: 'startup_failed',
  outcome: 'not_started',
};

/** A transport may throw where it ought to reject. */
async function sent(transport: McpServerTransport, message: unknown): Promise<void> {
  await transport.send(message);
}

async function sentAway(transport: McpServerTransport): Promise<void> {
  await transport.close();
}

/** Nobody is left to hear that a connection could not be closed. */
async function quietly(work: Promise<void>): Promise<void> {
  await work.catch(() => undefined);
}

/** A connection to an MCP server: the `Transport` of the MCP SDKs, of which each end is one. */
export interface McpServerTransport {
  /** Begins to hear; the listeners are set before. Called once. */
  start(): Promise<void>;
  /** Hands one message to the server. */
  send(message: unknown): Promise<void>;
  /** Ends the connection; `onclose` follows. */
  close(): Promise<void>;
  /** Hears one message. A method, as each SDK has a type of its own for a message. */
  onmessage?(message: unknown): void;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** The options of an MCP server that is reached by a transport. */
export const transportKeys = {
  /** Makes a connection to it; called for each start, so also after the last one was lost. */
  connect: callback<() => McpServerTransport | Promise<McpServerTransport>, { readonly required: true }>({
    required: true,
  }),
  /** Limit on the start up to the end of the handshake, in ms above 0. @defaultValue 10000 */
  handshakeMs: duration({ default: 10_000 }),
  /** Time in ms above 0 that the server may take to answer a ping when it is under suspicion. @defaultValue 5000 */
  pingMs: duration({ default: 5000 }),
};

/** An MCP server that is no process of ours and has no address, but a connection: one in this very process, as tests have. */
export interface McpTransportOptions extends Given<typeof transportKeys> {}

/** {@link McpTransportOptions}, checked, with the defaults filled in. */
type TransportSettings = Values<typeof transportKeys>;
