import { type Given, boolean, callback, choice, readOptions, text } from '../src/policy/options/face.ts';
import { type FaultyServerOptions, type FaultyTool, serverKeys, toolList, toolsFrom } from './mcpFaults.ts';
import { checkRule } from './mcpAnswerFaults.ts';
import { httpRulesKey, type McpHttpFaultRule, type ReadMcpHttpRule } from './mcpHttpFaults.ts';

const ownKeys = {
  /** The script. The first rule that matches a request befalls it; what matches none is answered as it should be. @defaultValue [] */
  faults: httpRulesKey,
  /**
   * The protocol it speaks: `sessions` is that up to 2025-11-25 (`initialize`, GET streams), `stateless` that of 2026-07-28
   * (`server/discover`, `subscriptions/listen`). @defaultValue 'sessions'
   */
  era: choice(['sessions', 'stateless', 'both'], { default: 'sessions' }),
  /** Gives its clients a session ID in the first era, and insists on it. @defaultValue true */
  sessionIds: boolean({ default: true }),
  /** Form in which it answers a request, unless a fault needs a stream. @defaultValue 'stream' */
  answerAs: choice(['stream', 'json'], { default: 'stream' }),
  /** Gives events IDs, so that a client that lost a stream can go on with it. @defaultValue false */
  eventIds: boolean({ default: false }),
  /** Asked for each request, with the token of its header. A refused one gets 401. @defaultValue every one may */
  authorize: callback<(token: string | undefined) => boolean>(),
  /** The URL of the authorization server, which its metadata and its challenges then name. @defaultValue none */
  authorizationServer: text(),
};

/** Faults of an MCP server over HTTP, and what it is like otherwise. */
export interface FaultyMcpHttpServerOptions extends FaultyServerOptions, Given<typeof ownKeys> {}

/** The options, checked, with their defaults. */
export type FaultyMcpHttpScript = ReturnType<typeof scriptOf>;

/** @throws TypeError or RangeError that names the option and its value. */
export function scriptOf(options: FaultyMcpHttpServerOptions) {
  const { tools = ['echo'], ...read } = readOptions('', options, { ...serverKeys, ...ownKeys });
  checkRules(read.faults);
  return { ...read, tools: toolsFrom(tools) };
}

/** @throws RangeError that names the option and its value. */
function checkRules(faults: readonly ReadMcpHttpRule[]): void {
  for (const [index, rule] of faults.entries()) checkRule(`faults[${index}]`, rule);
}

/** A script that takes the place of another's. @throws TypeError or RangeError that names the option and its value. */
export function readRules(faults: readonly McpHttpFaultRule[]): readonly ReadMcpHttpRule[] {
  const read = readOptions('', { faults }, { faults: httpRulesKey }).faults;
  checkRules(read);
  return read;
}

/** Tools that take the place of others. @throws TypeError or RangeError that names the option and its value. */
export function readTools(tools: readonly (string | FaultyTool)[]): readonly FaultyTool[] {
  return toolsFrom(readOptions('', { tools }, { tools: toolList }).tools ?? []);
}
