import { programForm } from '../../policy/commandText.ts';
import type { Duration } from '../../policy/duration.ts';
import { byName, choice, duration, integer, type KeysOf, list, text, type Values } from '../../policy/optionKeys.ts';
import { readOptions } from '../../policy/readOptions.ts';

/** An MCP server that is run as a child process and spoken to over its stdin and stdout. */
export interface McpServerOptions {
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  readonly command: string;
  /** Reach the program literally. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** Variables set for the server; their values are kept out of messages. @defaultValue {} */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Variables that `env` adds to: `safe` is HOME, LOGNAME, PATH, SHELL, TERM and USER (on Windows their like), with places of certificates and proxies
   * without a password, `extend` the whole environment of the runtime, keys and tokens included. @defaultValue 'safe'
   */
  readonly envMode?: 'safe' | 'extend' | undefined;
  /** @defaultValue the working directory of the runtime */
  readonly cwd?: string | undefined;
  /** Limit on the start up to the end of the handshake, in ms above 0. @defaultValue 10000 */
  readonly handshakeMs?: Duration | undefined;
  /** Time in ms above 0 that the server may take to end once its stdin is closed, and again after SIGTERM. @defaultValue 2000 */
  readonly closeMs?: Duration | undefined;
  /** Time in ms above 0 that a server under suspicion may take to answer a ping. @defaultValue 5000 */
  readonly pingMs?: Duration | undefined;
  /** Longest message taken from the server, in bytes, at least 1024. @defaultValue 67108864 (64 MB) */
  readonly maxMessageBytes?: number | undefined;
}

/** The options of an MCP server. */
export const mcpServerKeys = {
  command: text({ required: true, ...programForm }),
  args: list(text({ empty: true }), { expected: 'an array of strings', default: [] }),
  env: byName(text({ empty: true, secret: true }), { expected: 'an object of strings', default: {} }),
  envMode: choice(['safe', 'extend'], { default: 'safe' }),
  cwd: text(),
  handshakeMs: duration({ default: 10_000 }),
  closeMs: duration({ default: 2000 }),
  pingMs: duration({ default: 5000 }),
  maxMessageBytes: integer({ min: 1024, default: 64 * 1024 * 1024, unit: 'bytes' }),
} satisfies KeysOf<McpServerOptions>;

/** {@link McpServerOptions}, checked, with the defaults filled in. */
export interface McpServerSettings extends Omit<Values<typeof mcpServerKeys>, 'cwd'> {
  readonly cwd?: string | undefined;
}

/** @throws TypeError or RangeError that names the first option that is not as documented, and its value. */
export function checkMcpServer(options: McpServerOptions): McpServerSettings {
  return readOptions('', options, mcpServerKeys);
}
