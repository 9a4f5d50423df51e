import { programForm } from '../../policy/text/commandText.ts';
import {
  byName,
  choice,
  duration,
  integer,
  type Given,
  list,
  text,
  type Values,
} from '../../policy/options/optionKeys.ts';
import { readOptions } from '../../policy/options/readOptions.ts';

/** The options of an MCP server. */
export const mcpServerKeys = {
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  command: text({ required: true, ...programForm }),
  /** Reach the program literally. @defaultValue [] */
  args: list(text({ empty: true }), { expected: 'an array of strings', default: [] }),
  /** Variables set for the server; their values are kept out of messages. @defaultValue {} */
  env: byName(text({ empty: true, secret: true }), { expected: 'an object of strings', default: {} }),
  /**
   * Variables that `env` adds to: `safe` is HOME, LOGNAME, PATH, SHELL, TERM and USER (on Windows their like), with places of certificates and proxies
   * without a password, `extend` the whole environment of the runtime, keys and tokens included. @defaultValue 'safe'
   */
  envMode: choice(['safe', 'extend'], { default: 'safe' }),
  /** @defaultValue the working directory of the runtime */
  cwd: text(),
  /** Limit on the start up to the end of the handshake, in ms above 0. @defaultValue 10000 */
  handshakeMs: duration({ default: 10_000 }),
  /** Time in ms above 0 that the server may take to end once its stdin is closed, and again after SIGTERM. @defaultValue 2000 */
  closeMs: duration({ default: 2000 }),
  /** Time in ms above 0 that a server under suspicion may take to answer a ping. @defaultValue 5000 */
  pingMs: duration({ default: 5000 }),
  /** Longest message taken from the server, in bytes, at least 1024. @defaultValue 67108864 (64 MB) */
  maxMessageBytes: integer({ min: 1024, default: 64 * 1024 * 1024, unit: 'bytes' }),
};

/** An MCP server that is run as a child process and spoken to over its stdin and stdout. */
export interface McpServerOptions extends Given<typeof mcpServerKeys> {}

/** {@link McpServerOptions}, checked, with the defaults filled in. */
export interface McpServerSettings extends Omit<Values<typeof mcpServerKeys>, 'cwd'> {
  readonly cwd?: string | undefined;
}

/** @throws TypeError or RangeError that names the first option that is not as documented, and its value. */
export function checkMcpServer(options: McpServerOptions): McpServerSettings {
  return readOptions('', options, mcpServerKeys);
}
