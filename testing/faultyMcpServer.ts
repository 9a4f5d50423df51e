import { type Given, type Values, boolean, readOptions, section, text } from '../src/policy/options/face.ts';
import type { ServerIdentity } from './faultyMcpAnswers.ts';
import { frontKeys } from './faultyMcpFront.ts';
import { checkRule } from './mcpAnswerFaults.ts';
import {
  type FaultyServerOptions,
  type FaultyTool,
  type ReadMcpRule,
  rulesKey,
  serverKeys,
  toolList,
  toolsFrom,
} from './mcpFaults.ts';
import { programWords } from './programWords.ts';

/** A program and its arguments, as clients and `gateway.mcpServer` take them. */
export interface FaultyMcpServer {
  readonly command: string;
  readonly args: string[];
}

/** Options that the program is given, checked and with their defaults. */
export interface FaultyMcpScript extends ServerIdentity {
  readonly faults: readonly ReadMcpRule[];
  readonly tools: readonly FaultyTool[];
  readonly toolsAfterRestart: readonly FaultyTool[];
  readonly stderr?: string | undefined;
  readonly ignoreSigterm: boolean;
  readonly ignoreStdinEnd: boolean;
  readonly startsFile?: string | undefined;
  readonly before?: Values<typeof frontKeys> | undefined;
}

/**
 * An MCP server over stdio that does wrong what the script says, and the same each time: a counterparty for tests of clients, proxies
 * and supervisors. It speaks the protocol of the years up to 2025 (`initialize`) by hand, and needs nothing but Node.
 *
 * Besides the listed tools it has two: `received` gives the methods and params of all it was sent (the last 1,000), `environment` the
 * variable named by `name`.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * // Crashes in the second search of its first life, and is well after the restart.
 * const server = faultyMcpServer({
 *   startsFile,
 *   faults: [{ tool: 'search', nth: 2, start: 1, do: 'crash', exitCode: 3 }],
 * });
 * gateway.mcpServer('kb', server);
 */
export function faultyMcpServer(options: FaultyMcpServerOptions = {}): FaultyMcpServer {
  return programWords('faultyMcpProgram', scriptOf(options));
}

const ownKeys = {
  /** The script. The first rule that matches a message befalls it; what matches none is answered as it should be. @defaultValue [] */
  faults: rulesKey,
  /** Listed from the second start on; needs a `startsFile`. @defaultValue `tools` */
  toolsAfterRestart: toolList,
  /** Written to stderr at its start, as most servers do. */
  stderr: text({ empty: true }),
  /** Says `not now` to SIGTERM, on stderr, and stays. @defaultValue false */
  ignoreSigterm: boolean({ default: false }),
  /** Stays when its stdin ends. @defaultValue false */
  ignoreStdinEnd: boolean({ default: false }),
  /** A file in which the server counts its starts, one byte each; where it does not exist, it is made. */
  startsFile: text(),
  /** A real server, started behind this one: it answers what no rule befalls, and has the tools. @defaultValue none */
  before: section(frontKeys),
};

/** Faults of an MCP server, and what it is like otherwise. */
export interface FaultyMcpServerOptions extends FaultyServerOptions, Given<typeof ownKeys> {}

function scriptOf(options: FaultyMcpServerOptions): FaultyMcpScript {
  const {
    tools = ['echo'],
    toolsAfterRestart,
    faults,
    ...read
  } = readOptions('', options, { ...serverKeys, ...ownKeys });
  for (const [index, rule] of faults.entries()) checkRule(`faults[${index}]`, rule);
  const counts = toolsAfterRestart !== undefined || faults.some(({ start }) => start !== undefined);
  if (counts && read.startsFile === undefined) {
    throw new RangeError('Expected `startsFile` beside `toolsAfterRestart` and rules with a `start`');
  }
  return { ...read, faults, tools: toolsFrom(tools), toolsAfterRestart: toolsFrom(toolsAfterRestart ?? tools) };
}
