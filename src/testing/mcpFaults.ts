import {
  anyObject,
  anything,
  boolean,
  choice,
  duration,
  either,
  integer,
  type Key,
  type Keys,
  type KeysOf,
  list,
  name,
  section,
  text,
} from '../policy/optionKeys.ts';
import type { Duration } from '../policy/duration.ts';
import { show } from '../policy/showValue.ts';

/** A tool as the faulty server lists it. */
export interface FaultyTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** Hints such as `readOnlyHint`; nobody holds the server to them. */
  readonly annotations?: Readonly<Record<string, boolean | string>> | undefined;
}

/** What a server of the faulty kind can do wrong to one message; everything else it does right. */
export type McpFault =
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
  /** Answers after `ms`; the progress notifications are spread over that time. */
  | {
      readonly do: 'slow';
      /** Above 0. */
      readonly ms: Duration;
      /** @defaultValue 0 */
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
  /** The text of the answer is this long, in bytes. */
  | { readonly do: 'oversize'; readonly bytes: number }
  /** Answers a request that nobody made, in place of this one. */
  | { readonly do: 'wrong_id' }
  | { readonly do: 'duplicate_answer' }
  /** The result has not the form of one. */
  | { readonly do: 'malformed' }
  /** A JSON-RPC error. */
  | {
      readonly do: 'error';
      /** @defaultValue -32603 */
      readonly code?: number | undefined;
      /** @defaultValue 'Internal error' */
      readonly message?: string | undefined;
      readonly data?: unknown;
    }
  /** A result with `isError`, one part of content for each text. */
  | { readonly do: 'tool_error'; readonly texts?: readonly string[] | undefined }
  /** Asks the client before it answers: goes on with its reply, or crashes without waiting for it. */
  | {
      readonly do: 'ask';
      readonly method: 'sampling/createMessage' | 'elicitation/create' | 'roots/list';
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

/** Which messages a fault befalls: all that match every condition given. */
export interface McpFaultMatch {
  /**
   * A method of a request or a notification of the client; `start` is the start of the server, before it reads anything.
   * @defaultValue 'tools/call'
   */
  readonly on?: string | undefined;
  /** Only calls of this tool, which the server then has. */
  readonly tool?: string | undefined;
  /** Which of the messages that match the rest of the rule, counted from 1 in each start of the server. @defaultValue all */
  readonly nth?: number | readonly number[] | undefined;
  /** Which start of the server, from 1; needs a `startsFile`. @defaultValue every one */
  readonly start?: number | undefined;
}

/** One line of the script: what goes wrong, and when. */
export type McpFaultRule = McpFault & McpFaultMatch;

const someText = text({ empty: true });
const progress = integer({ min: 0 });

const matchKeys = {
  on: text(),
  tool: text(),
  nth: either<number | readonly number[]>(
    [integer(), list(integer(), { expected: 'an array of positive integers' })],
    (value) => (Array.isArray(value) ? 1 : 0),
    'a positive integer, or an array of them',
  ),
  start: integer(),
} satisfies KeysOf<McpFaultMatch>;

const toolKeys = {
  name,
  description: someText,
  annotations: { ...anyObject, required: undefined } as Key<FaultyTool['annotations']>,
} satisfies KeysOf<FaultyTool>;

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

const ownKeys: Readonly<Record<McpFault['do'], Keys>> = {
  crash: {
    when: choice(['before', 'after']),
    exitCode: integer({ min: 0, max: 255 }),
    signal: choice(['SIGKILL', 'SIGTERM', 'SIGABRT']),
    stderr: someText,
  },
  hang: { scope: choice(['call', 'server']), progress },
  slow: { ms: duration({ required: true }), progress },
  late: { progress },
  partial_line: { then: choice(['hang', 'crash']) },
  noise: { text: someText, newline: boolean() },
  oversize: { bytes: integer({ required: true }) },
  wrong_id: {},
  duplicate_answer: {},
  malformed: {},
  error: { code: integer({ min: Number.MIN_SAFE_INTEGER }), message: someText, data: anything },
  tool_error: { texts: list(someText, { expected: 'an array of strings' }) },
  ask: {
    method: choice(['sampling/createMessage', 'elicitation/create', 'roots/list'], { required: true }),
    then: choice(['answer', 'crash']),
  },
  change_tools: { tools: { ...toolList, required: true }, tell: boolean() },
  close_pipe: { pipe: choice(['stdin', 'stdout'], { required: true }) },
};

/** One line of the script. */
const ruleKey: Key<McpFaultRule> = {
  kind: 'variants',
  by: 'do',
  of: Object.fromEntries(Object.entries(ownKeys).map(([kind, keys]) => [kind, { ...matchKeys, ...keys }])),
  required: true,
};

/** The lines of a script. */
export const rulesKey = list(ruleKey, { expected: 'an array', default: [] });

/** @throws RangeError that names the option and its value. */
export function checkRule(at: string, { tool: named, on }: McpFaultRule): void {
  if (named === undefined || on === undefined || on === 'tools/call') return;
  throw new RangeError(`Expected \`${at}.on\` to be "tools/call" beside \`${at}.tool\`, got ${show(on)}`);
}
