import {
  anyObject,
  boolean,
  choice,
  either,
  integer,
  type Key,
  type Keys,
  type Given,
  list,
  name,
  section,
  text,
} from '../src/policy/optionKeys.ts';
import {
  answerFaultKeys,
  type AskedMethod,
  askedMethod,
  type McpAnswerFault,
  nthKey,
  progress,
  scriptKey,
  someText,
} from './mcpAnswerFaults.ts';

/** Fault that a server of the faulty kind can do to one message; everything else it does right. */
export type McpFault =
  | McpAnswerFault
  /** Exits, before it answers or once the answer is on its way: with this code, or by a signal to itself. */
  | {
      readonly do: 'crash';
      /** @defaultValue 'before' */
      readonly when?: 'before' | 'after' | undefined;
      /** @defaultValue 1 */
      readonly exitCode?: number | undefined;
      readonly signal?: 'SIGKILL' | 'SIGTERM' | 'SIGABRT' | undefined;
      /** Written to stderr first. */
      readonly stderr?: string | undefined;
    }
  /** Never answers: this message (`call`), or any from now on, pings and the end of its stdin included (`server`). */
  | {
      readonly do: 'hang';
      /** @defaultValue 'call' */
      readonly scope?: 'call' | 'server' | undefined;
      /** Progress notifications sent before. @defaultValue 0 */
      readonly progress?: number | undefined;
    }
  /** Answers only once the request has been cancelled. */
  | { readonly do: 'late'; readonly progress?: number | undefined }
  /** Writes half of the answer and no end of line, then says nothing more, or exits with 1. */
  | {
      readonly do: 'partial_line';
      /** @defaultValue 'hang' */
      readonly then?: 'hang' | 'crash' | undefined;
    }
  /** Writes a text to stdout before the answer; without an end of line it takes the answer with it. */
  | {
      readonly do: 'noise';
      /** @defaultValue 'Loading model...' */
      readonly text?: string | undefined;
      /** @defaultValue true */
      readonly newline?: boolean | undefined;
    }
  /** The result has not the form of one. */
  | { readonly do: 'malformed' }
  /** Asks the client before it answers: goes on with its reply, or crashes without waiting for it. */
  | {
      readonly do: 'ask';
      readonly method: AskedMethod;
      /** @defaultValue 'answer' */
      readonly then?: 'answer' | 'crash' | undefined;
    }
  /** Lists these tools from now on, and says so unless told not to. */
  | {
      readonly do: 'change_tools';
      readonly tools: readonly (string | FaultyTool)[];
      /** @defaultValue true */
      readonly tell?: boolean | undefined;
    }
  /** Closes one of its pipes, says `closed it` on stderr, and stays. */
  | { readonly do: 'close_pipe'; readonly pipe: 'stdin' | 'stdout' };

/** Line of the script: what goes wrong, and when. */
export type McpFaultRule = McpFault & McpFaultMatch;

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

/** The name alone stands for a tool without more. */
export function toolsFrom(tools: readonly (string | FaultyTool)[]): readonly FaultyTool[] {
  return tools.map((each) => (typeof each === 'string' ? { name: each } : each));
}

const faultKeys: Readonly<Record<McpFault['do'], Keys>> = {
  crash: {
    when: choice(['before', 'after']),
    exitCode: integer({ min: 0, max: 255 }),
    signal: choice(['SIGKILL', 'SIGTERM', 'SIGABRT']),
    stderr: someText,
  },
  hang: { scope: choice(['call', 'server']), progress },
  late: { progress },
  partial_line: { then: choice(['hang', 'crash']) },
  noise: { text: someText, newline: boolean() },
  malformed: {},
  ask: { method: askedMethod, then: choice(['answer', 'crash']) },
  change_tools: { tools: { ...toolList, required: true }, tell: boolean() },
  close_pipe: { pipe: choice(['stdin', 'stdout'], { required: true }) },
  ...answerFaultKeys,
};

/** The lines of a script. */
export const rulesKey = scriptKey<McpFaultRule>(faultKeys, matchKeys);
