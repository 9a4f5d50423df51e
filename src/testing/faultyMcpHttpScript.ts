import { boolean, callback, choice, type KeysOf, text } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import { type FaultyTool, toolList, toolsFrom } from './mcpFaults.ts';
import { checkRule } from './mcpAnswerFaults.ts';
import { httpRulesKey, type McpHttpFaultRule } from './mcpHttpFaults.ts';

/** Faults of an MCP server over HTTP, and what it is like otherwise. */
export interface FaultyMcpHttpServerOptions {
  /** The script. The first rule that matches a request befalls it; what matches none is answered as it should be. @defaultValue [] */
  readonly faults?: readonly McpHttpFaultRule[] | undefined;
  /** Listed tools, besides those of the rules. Each answers with the arguments it was given. @defaultValue ['echo'] */
  readonly tools?: readonly (string | FaultyTool)[] | undefined;
  /** Name that it gives itself. @defaultValue 'faulty' */
  readonly name?: string | undefined;
  /** The version that it tells. @defaultValue '1.0.0' */
  readonly version?: string | undefined;
  /** The instructions that it tells. @defaultValue none */
  readonly instructions?: string | undefined;
  /**
   * The protocol it speaks: `sessions` is that up to 2025-11-25 (`initialize`, GET streams), `stateless` that of 2026-07-28
   * (`server/discover`, `subscriptions/listen`). @defaultValue 'sessions'
   */
  readonly era?: 'sessions' | 'stateless' | 'both' | undefined;
  /** Gives its clients a session ID in the first era, and insists on it. @defaultValue true */
  readonly sessionIds?: boolean | undefined;
  /** Form in which it answers a request, unless a fault needs a stream. @defaultValue 'stream' */
  readonly answerAs?: 'stream' | 'json' | undefined;
  /** Gives events IDs, so that a client that lost a stream can go on with it. @defaultValue false */
  readonly eventIds?: boolean | undefined;
  /** Asked for each request, with the token of its header. A refused one gets 401. @defaultValue every one may */
  readonly authorize?: ((token: string | undefined) => boolean) | undefined;
  /** The URL of the authorization server, which its metadata and its challenges then name. @defaultValue none */
  readonly authorizationServer?: string | undefined;
}

const serverKeys = {
  faults: httpRulesKey,
  tools: toolList,
  name: text({ default: 'faulty' }),
  version: text({ default: '1.0.0' }),
  instructions: text({ empty: true }),
  era: choice(['sessions', 'stateless', 'both'], { default: 'sessions' }),
  sessionIds: boolean({ default: true }),
  answerAs: choice(['stream', 'json'], { default: 'stream' }),
  eventIds: boolean({ default: false }),
  authorize: callback<FaultyMcpHttpServerOptions['authorize']>(),
  authorizationServer: text(),
} satisfies KeysOf<FaultyMcpHttpServerOptions>;

/** The options, checked, with their defaults. */
export type FaultyMcpHttpScript = ReturnType<typeof scriptOf>;

/** @throws TypeError or RangeError that names the option and its value. */
export function scriptOf(options: FaultyMcpHttpServerOptions) {
  const { tools = ['echo'], ...read } = readOptions('', options, serverKeys);
  checkRules(read.faults);
  return { ...read, tools: toolsFrom(tools) };
}

/** @throws RangeError that names the option and its value. */
function checkRules(faults: readonly McpHttpFaultRule[]): void {
  for (const [index, rule] of faults.entries()) checkRule(`faults[${index}]`, rule);
}

/** A script that takes the place of another's. @throws TypeError or RangeError that names the option and its value. */
export function readRules(faults: readonly McpHttpFaultRule[]): readonly McpHttpFaultRule[] {
  const read = readOptions('', { faults }, { faults: httpRulesKey }).faults;
  checkRules(read);
  return read;
}

/** Tools that take the place of others. @throws TypeError or RangeError that names the option and its value. */
export function readTools(tools: readonly (string | FaultyTool)[]): readonly FaultyTool[] {
  return toolsFrom(readOptions('', { tools }, { tools: toolList }).tools ?? []);
}
