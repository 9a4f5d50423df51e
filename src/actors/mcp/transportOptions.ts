import { callback, duration, type Given, type Values } from '../../policy/optionKeys.ts';

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
export type TransportSettings = Values<typeof transportKeys>;
