import {
  anything,
  choice,
  duration,
  either,
  integer,
  type Key,
  type Keys,
  list,
  text,
} from '../src/policy/optionKeys.ts';
import type { Duration } from '../src/policy/duration.ts';
import { show } from '../src/policy/showValue.ts';

/** Fault that a faulty MCP server can do to one answer, on whatever transport. */
export type McpAnswerFault =
  /** Answers after `ms`; the progress notifications are spread over that time. */
  | {
      readonly do: 'slow';
      /** Above 0. */
      readonly ms: Duration;
      /** @defaultValue 0 */
      readonly progress?: number | undefined;
    }
  /** The text of the answer is this long, in bytes. */
  | { readonly do: 'oversize'; readonly bytes: number }
  /** Answers a request that nobody made, in place of this one. */
  | { readonly do: 'wrong_id' }
  /** Answers twice; over HTTP, on one event stream. */
  | { readonly do: 'duplicate_answer' }
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
  | { readonly do: 'tool_error'; readonly texts?: readonly string[] | undefined };

/** Request that a server can make of its client. */
export type AskedMethod = 'sampling/createMessage' | 'elicitation/create' | 'roots/list';

export const askedMethod = choice<AskedMethod, { readonly required: true }>(
  ['sampling/createMessage', 'elicitation/create', 'roots/list'],
  { required: true },
);

export const someText = text({ empty: true });
export const progress = integer({ min: 0 });

export const answerFaultKeys: Readonly<Record<McpAnswerFault['do'], Keys>> = {
  slow: { ms: duration({ required: true }), progress },
  oversize: { bytes: integer({ required: true }) },
  wrong_id: {},
  duplicate_answer: {},
  error: { code: integer({ min: Number.MIN_SAFE_INTEGER }), message: someText, data: anything },
  tool_error: { texts: list(someText, { expected: 'an array of strings' }) },
};

/** Choice among the messages that match the rest of a rule. */
export const nthKey = either<number | readonly number[]>(
  [integer(), list(integer(), { expected: 'an array of positive integers' })],
  (value) => (Array.isArray(value) ? 1 : 0),
  'a positive integer, or an array of them',
);

/** A script: an array of rules, each with the keys of its fault and those that say what it befalls. */
export function scriptKey<R>(
  faults: Readonly<Record<string, Keys>>,
  match: Keys,
): Key<readonly R[], readonly R[] | undefined> {
  const rule: Key<R> = {
    kind: 'variants',
    by: 'do',
    of: Object.fromEntries(Object.entries(faults).map(([kind, keys]) => [kind, { ...match, ...keys }])),
    required: true,
  };
  return list(rule, { expected: 'an array', default: [] }) as Key<readonly R[], readonly R[] | undefined>;
}

/** @throws RangeError that names the option and its value, for a rule of a tool that is not about its calls. */
export function checkRule(
  at: string,
  { tool, on }: { readonly tool?: string | undefined; readonly on?: string | undefined },
): void {
  if (tool === undefined || on === undefined || on === 'tools/call') return;
  throw new RangeError(`Expected \`${at}.on\` to be "tools/call" beside \`${at}.tool\`, got ${show(on)}`);
}
