import {
  type Given,
  type Key,
  type Values,
  anyObject,
  boolean,
  choice,
  either,
  integer,
  list,
  name,
  section,
  text,
} from '../src/policy/options/face.ts';
import { answerFaults, askedMethod, nthKey, progress, scriptKey, someText } from './mcpAnswerFaults.ts';
import type { GivenAct, ReadAct } from './variants.ts';

const matchKeys = {
  /**
   * A method of a request or a notification of the client; `start` is the start of the server, before it reads anything.
   * @defaultValue 'tools/call'
   */
  on: text(),
  /** Only calls of this tool, which the server then has. */
  tool: text(),
  /** Choice among the messages that match the rest of the rule, counted from 1 in each start of the server. @defaultValue all */
  nth: nthKey,
  /** Start of the server, from 1; needs a `startsFile`. @defaultValue every one */
  start: integer(),
};

/** Messages that a fault befalls: all that match every condition given. */
export interface McpFaultMatch extends Given<typeof matchKeys> {}

const toolKeys = {
  /** The name under which it is called. */
  name,
  /** Text about it, for a model. @defaultValue none */
  description: someText,
  /** Hints such as `readOnlyHint`; nobody holds the server to them. */
  annotations: { ...anyObject, required: undefined } as Key<Readonly<Record<string, boolean | string>> | undefined>,
};

/** A tool as the faulty server lists it. */
export interface FaultyTool extends Given<typeof toolKeys> {}

const tool = either<string | FaultyTool, { readonly required: true }>(
  [name, section(toolKeys)],
  (value) => (typeof value === 'string' ? 0 : 1),
  'a name, or an object',
  { required: true },
);

/** Tools as the faulty server lists them. */
export const toolList = list(tool, { expected: 'an array' });

/** Options that a faulty server has on whatever transport. */
export const serverKeys = {
  /** Listed tools, besides those of the rules. Each answers with the arguments it was given. @defaultValue ['echo'] */
  tools: toolList,
  /** Name that it gives itself. @defaultValue 'faulty' */
  name: text({ default: 'faulty' }),
  /** The version that it tells. @defaultValue '1.0.0' */
  version: text({ default: '1.0.0' }),
  /** The instructions that it tells. @defaultValue none */
  instructions: text({ empty: true }),
};

/** What a faulty server is like otherwise, on whatever transport. */
export interface FaultyServerOptions extends Given<typeof serverKeys> {}

/** The name alone stands for a tool without more. */
export function toolsFrom(tools: readonly (string | FaultyTool)[]): readonly FaultyTool[] {
  return tools.map((each) => (typeof each === 'string' ? { name: each } : each));
}

const mcpFaults = {
  /** Exits, before it answers or once the answer is on its way: with this code, or by a signal to itself. */
  crash: {
    /** @defaultValue 'before' */
    when: choice(['before', 'after']),
    /** @defaultValue 1 */
    exitCode: integer({ min: 0, max: 255 }),
    signal: choice(['SIGKILL', 'SIGTERM', 'SIGABRT']),
    /** Written to stderr first. */
    stderr: someText,
  },
  /** Never answers: this message (`call`), or any from now on, pings and the end of its stdin included (`server`). */
  hang: {
    /** @defaultValue 'call' */
    scope: choice(['call', 'server']),
    /** Progress notifications sent before. @defaultValue 0 */
    progress,
  },
  /** Answers only once the request has been cancelled. */
  late: { progress },
  /** Writes half of the answer and no end of line, then says nothing more, or exits with 1. */
  partial_line: {
    /** @defaultValue 'hang' */
    then: choice(['hang', 'crash']),
  },
  /** Writes a text to stdout before the answer; without an end of line it takes the answer with it. */
  noise: {
    /** @defaultValue 'Loading model...' */
    text: someText,
    /** @defaultValue true */
    newline: boolean(),
    /** Times that it is written, at least 1: a flood. @defaultValue 1 */
    times: integer(),
  },
  /** The result has not the form of one. */
  malformed: {},
  /** Asks the client before it answers: goes on with its reply, or crashes without waiting for it. */
  ask: {
    method: askedMethod,
    /** @defaultValue 'answer' */
    then: choice(['answer', 'crash']),
  },
  /** Lists these tools from now on, and says so unless told not to. */
  change_tools: {
    tools: list(tool, { expected: 'an array', required: true }),
    /** @defaultValue true */
    tell: boolean(),
  },
  /** Closes one of its pipes, says `closed it` on stderr, and stays. */
  close_pipe: { pipe: choice(['stdin', 'stdout'], { required: true }) },
  ...answerFaults,
};

/** Fault that a server of the faulty kind can do to one message; everything else it does right. */
export type McpFault = GivenAct<typeof mcpFaults>;

/** A fault whose options were read. */
export type ReadMcpFault = ReadAct<typeof mcpFaults>;

/** Line of the script: what goes wrong, and when. */
export type McpFaultRule = McpFault & McpFaultMatch;

/** A line that was read. */
export type ReadMcpRule = ReadMcpFault & Values<typeof matchKeys>;

/** The lines of a script. */
export const rulesKey: Key<readonly ReadMcpRule[], readonly McpFaultRule[] | undefined> = scriptKey(
  mcpFaults,
  matchKeys,
);
