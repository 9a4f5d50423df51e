import {
  type Given,
  type Key,
  type Keys,
  type Values,
  anything,
  choice,
  duration,
  either,
  integer,
  list,
  text,
} from '../src/policy/options/face.ts';
import { show } from '../src/policy/text/face.ts';
import type { Acts, GivenAct, ReadAct } from './variants.ts';

/** Request that a server can make of its client. */
export type AskedMethod = 'sampling/createMessage' | 'elicitation/create' | 'roots/list';

export const askedMethod = choice<AskedMethod, { readonly required: true }>(
  ['sampling/createMessage', 'elicitation/create', 'roots/list'],
  { required: true },
);

export const someText = text({ empty: true });
export const progress = integer({ min: 0 });

/** Faults that a faulty MCP server can do to one answer, on whatever transport. */
export const answerFaults = {
  /** Answers after `ms`; the progress notifications are spread over that time. */
  slow: {
    /** Above 0. */
    ms: duration({ required: true }),
    /** @defaultValue 0 */
    progress,
  },
  /** The text of the answer is this long, in bytes. */
  oversize: { bytes: integer({ required: true }) },
  /** Answers a request that nobody made, in place of this one. */
  wrong_id: {},
  /** Answers twice; over HTTP, on one event stream. */
  duplicate_answer: {},
  /** A JSON-RPC error. */
  error: {
    /** @defaultValue -32603 */
    code: integer({ min: Number.MIN_SAFE_INTEGER }),
    /** @defaultValue 'Internal error' */
    message: someText,
    data: anything,
  },
  /** A result with `isError`, one part of content for each text. */
  tool_error: { texts: list(someText, { expected: 'an array of strings' }) },
};

/** Those of these names as they were read. */
export type AnswerFault<D extends keyof typeof answerFaults> = ReadAct<Pick<typeof answerFaults, D>>;

/** Choice among the messages that match the rest of a rule. */
export const nthKey = either<number | readonly number[]>(
  [integer(), list(integer(), { expected: 'an array of positive integers' })],
  (value) => (Array.isArray(value) ? 1 : 0),
  'a positive integer, or an array of them',
);

/** A script: an array of rules, each with the keys of its fault and those that say what it befalls. */
export function scriptKey<F extends Acts, M extends Keys>(
  faults: F,
  match: M,
): Key<readonly (ReadAct<F> & Values<M>)[], readonly (GivenAct<F> & Given<M>)[] | undefined> {
  const rule: Key = {
    kind: 'variants',
    by: 'do',
    of: Object.fromEntries(Object.entries(faults).map(([kind, keys]) => [kind, { ...match, ...keys }])),
    required: true,
  };
  return list(rule, { expected: 'an array', default: [] }) as Key<never>;
}

/** @throws RangeError that names the option and its value, for a rule of a tool that is not about its calls. */
export function checkRule(
  at: string,
  { tool, on }: { readonly tool?: string | undefined; readonly on?: string | undefined },
): void {
  if (tool === undefined || on === undefined || on === 'tools/call') return;
  throw new RangeError(`Expected \`${at}.on\` to be "tools/call" beside \`${at}.tool\`, got ${show(on)}`);
}

/** Part of a rule of a script about the messages that it befalls. */
interface CountedRule {
  /** Choice among the messages that match the rest of the rule, from 1. */
  readonly nth?: number | readonly number[] | undefined;
}

/**
 * Finds the first rule that befalls a message, and counts for each rule the messages that match it.
 * @param isDue - whether a rule that matches is in force now; a message counts for it in any case.
 */
export function createFaultPicker<R extends CountedRule, M>(
  rules: readonly R[],
  matches: (rule: R, message: M) => boolean,
  isDue: (rule: R) => boolean = () => true,
): (message: M) => R | undefined {
  const seen = rules.map(() => 0);
  return (message) => {
    let picked: R | undefined;
    for (const [index, rule] of rules.entries()) {
      if (!matches(rule, message)) continue;
      const count = (seen[index] ?? 0) + 1;
      seen[index] = count;
      if (!isDue(rule)) continue;
      if (rule.nth === undefined || [rule.nth].flat().includes(count)) picked ??= rule;
    }
    return picked;
  };
}

/** Finds all rules that befall a message, in their order. */
export function createFaultsPicker<R extends CountedRule, M>(
  rules: readonly R[],
  matches: (rule: R, message: M) => boolean,
  isDue?: (rule: R) => boolean,
): (message: M) => readonly R[] {
  const pickers = rules.map((rule) => createFaultPicker([rule], matches, isDue));
  return (message) => pickers.flatMap((pick) => pick(message) ?? []);
}
