import { checkDuration, checkInteger, checkName, checkOneOf, checkTexts, show } from '../policy/options.ts';
import { safeEnvironment } from './safeEnvironment.ts';

/** An MCP server that is run as a child process and spoken to over its stdin and stdout. */
export interface McpServerOptions {
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  readonly command: string;
  /** Reach the program literally. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** Variables set for the server; their values are kept out of messages. @defaultValue {} */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * What `env` adds to: `safe` is HOME, LOGNAME, PATH, SHELL, TERM and USER (on Windows their like), `extend` the whole
   * environment of the runtime, keys and tokens included. @defaultValue 'safe'
   */
  readonly envMode?: 'safe' | 'extend' | undefined;
  /** @defaultValue the working directory of the runtime */
  readonly cwd?: string | undefined;
  /** Limit on the start up to the end of the handshake, in ms above 0. @defaultValue 10000 */
  readonly handshakeMs?: number | undefined;
  /** How long the server may take to end once its stdin is closed, and again after SIGTERM, in ms above 0. @defaultValue 2000 */
  readonly closeMs?: number | undefined;
  /** How long a server under suspicion may take to answer a ping, in ms above 0. @defaultValue 5000 */
  readonly pingMs?: number | undefined;
  /** Longest message taken from the server, in bytes, at least 1024. @defaultValue 67108864 (64 MB) */
  readonly maxMessageBytes?: number | undefined;
}

/** {@link McpServerOptions}, checked, with the defaults filled in. */
export interface McpServerSettings {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly envMode: 'safe' | 'extend';
  readonly cwd: string | undefined;
  readonly handshakeMs: number;
  readonly closeMs: number;
  readonly pingMs: number;
  readonly maxMessageBytes: number;
}

/** The names of all options, for the check of unknown ones. */
export const mcpServerKeys = [
  'command',
  'args',
  'env',
  'envMode',
  'cwd',
  'handshakeMs',
  'closeMs',
  'pingMs',
  'maxMessageBytes',
] as const satisfies readonly (keyof McpServerOptions)[];

/** @throws TypeError or RangeError that names the first option that is not as documented, and its value. */
export function checkMcpServer(options: McpServerOptions): McpServerSettings {
  return {
    command: checkName('command', options.command),
    args: checkTexts('args', options.args ?? []),
    env: checkEnvironment('env', options.env ?? {}),
    envMode: checkOneOf('envMode', options.envMode ?? 'safe', ['safe', 'extend']),
    cwd: options.cwd === undefined ? undefined : checkName('cwd', options.cwd),
    handshakeMs: checkDuration('handshakeMs', options.handshakeMs ?? 10_000),
    closeMs: checkDuration('closeMs', options.closeMs ?? 2000),
    pingMs: checkDuration('pingMs', options.pingMs ?? 5000),
    maxMessageBytes: checkInteger('maxMessageBytes', options.maxMessageBytes ?? 64 * 1024 * 1024, 1024),
  };
}

/** The environment the server gets, as of now. */
export function mcpEnvironment({ env, envMode }: Pick<McpServerSettings, 'env' | 'envMode'>): NodeJS.ProcessEnv {
  return { ...(envMode === 'extend' ? process.env : safeEnvironment()), ...env };
}

function checkEnvironment(name: string, value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`Expected \`${name}\` to be an object of strings, got ${show(value)}`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, text]: [string, unknown]) => [key, checkText(`${name}.${key}`, text)]),
  );
}

function checkText(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`Expected \`${name}\` to be a string, got ${show(value)}`);
  return value;
}
