import {
  checkBoolean,
  checkDuration,
  checkInteger,
  checkKeys,
  checkName,
  checkObject,
  checkOneOf,
  checkText,
  checkTexts,
  show,
} from '../policy/options.ts';

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
      readonly ms: number;
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

type KeysOf<K extends McpFault['do']> = Exclude<keyof Extract<McpFault, { do: K }>, 'do'>;

const ownKeys: { readonly [K in McpFault['do']]: readonly KeysOf<K>[] } = {
  crash: ['when', 'exitCode', 'signal', 'stderr'],
  hang: ['scope', 'progress'],
  slow: ['ms', 'progress'],
  late: ['progress'],
  partial_line: ['then'],
  noise: ['text', 'newline'],
  oversize: ['bytes'],
  wrong_id: [],
  duplicate_answer: [],
  malformed: [],
  error: ['code', 'message', 'data'],
  tool_error: ['texts'],
  ask: ['method', 'then'],
  change_tools: ['tools', 'tell'],
  close_pipe: ['pipe'],
};

const matchKeys = ['do', 'on', 'tool', 'nth', 'start'];

/** @throws TypeError or RangeError that names the option and its value. */
export function checkRule(name: string, rule: McpFaultRule): McpFaultRule {
  const kinds = Object.keys(ownKeys) as McpFault['do'][];
  checkKeys(name, rule, [...matchKeys, ...kinds.flatMap((kind) => ownKeys[kind])]);
  checkOneOf(`${name}.do`, rule.do, kinds);
  checkKeys(name, rule, [...matchKeys, ...ownKeys[rule.do]]);
  if (rule.on !== undefined) checkName(`${name}.on`, rule.on);
  if (rule.tool !== undefined) checkName(`${name}.tool`, rule.tool);
  if (rule.tool !== undefined && rule.on !== undefined && rule.on !== 'tools/call') {
    throw new RangeError(`Expected \`${name}.on\` to be "tools/call" beside \`${name}.tool\`, got ${show(rule.on)}`);
  }
  for (const nth of [rule.nth ?? []].flat()) checkInteger(`${name}.nth`, nth);
  if (rule.start !== undefined) checkInteger(`${name}.start`, rule.start);
  checkFault(name, rule);
  return rule;
}

function checkFault(name: string, fault: McpFault): void {
  if ('progress' in fault && fault.progress !== undefined) checkInteger(`${name}.progress`, fault.progress, 0);
  switch (fault.do) {
    case 'crash':
      if (fault.when !== undefined) checkOneOf(`${name}.when`, fault.when, ['before', 'after']);
      if (fault.exitCode !== undefined) checkInteger(`${name}.exitCode`, fault.exitCode, 0, 255);
      if (fault.signal !== undefined) checkOneOf(`${name}.signal`, fault.signal, ['SIGKILL', 'SIGTERM', 'SIGABRT']);
      if (fault.stderr !== undefined) checkText(`${name}.stderr`, fault.stderr);
      return;
    case 'hang':
      if (fault.scope !== undefined) checkOneOf(`${name}.scope`, fault.scope, ['call', 'server']);
      return;
    case 'slow':
      checkDuration(`${name}.ms`, fault.ms);
      return;
    case 'partial_line':
      if (fault.then !== undefined) checkOneOf(`${name}.then`, fault.then, ['hang', 'crash']);
      return;
    case 'noise':
      if (fault.text !== undefined) checkText(`${name}.text`, fault.text);
      if (fault.newline !== undefined) checkBoolean(`${name}.newline`, fault.newline);
      return;
    case 'oversize':
      checkInteger(`${name}.bytes`, fault.bytes);
      return;
    case 'error':
      if (fault.code !== undefined) checkInteger(`${name}.code`, fault.code, Number.MIN_SAFE_INTEGER);
      if (fault.message !== undefined) checkText(`${name}.message`, fault.message);
      return;
    case 'tool_error':
      if (fault.texts !== undefined) checkTexts(`${name}.texts`, fault.texts);
      return;
    case 'ask':
      checkOneOf(`${name}.method`, fault.method, ['sampling/createMessage', 'elicitation/create', 'roots/list']);
      if (fault.then !== undefined) checkOneOf(`${name}.then`, fault.then, ['answer', 'crash']);
      return;
    case 'change_tools':
      checkToolList(`${name}.tools`, fault.tools);
      if (fault.tell !== undefined) checkBoolean(`${name}.tell`, fault.tell);
      return;
    case 'close_pipe':
      checkOneOf(`${name}.pipe`, fault.pipe, ['stdin', 'stdout']);
      return;
    case 'late':
    case 'wrong_id':
    case 'duplicate_answer':
    case 'malformed':
      return;
  }
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkToolList(name: string, tools: readonly (string | FaultyTool)[]): readonly FaultyTool[] {
  if (!Array.isArray(tools)) throw new TypeError(`Expected \`${name}\` to be an array, got ${show(tools)}`);
  return tools.map((tool: string | FaultyTool, index) => {
    if (typeof tool === 'string') return { name: checkName(`${name}[${index}]`, tool) };
    checkKeys(`${name}[${index}]`, tool, ['name', 'description', 'annotations']);
    checkName(`${name}[${index}].name`, tool.name);
    if (tool.description !== undefined) checkText(`${name}[${index}].description`, tool.description);
    if (tool.annotations !== undefined) checkObject(`${name}[${index}].annotations`, tool.annotations);
    return tool;
  });
}
