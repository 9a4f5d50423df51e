import { canonicalJson } from './text/canonicalJson.ts';
import type { FailureFacts } from './failures/failure.ts';
import type { LostAnswer, MappedValue, ToolRule } from './reconcileRule.ts';

/** Finding of a rule: the verdict, how it is known in words, and what the call would have answered, where it gives that. */
export interface Finding {
  readonly verdict: 'done' | 'not_done' | 'unknown';
  readonly how: string;
  /** Present where there is one; it may be undefined. */
  readonly result?: { readonly value: unknown } | undefined;
  /** The failure that it ended with, as it was answered. */
  readonly failed?: FailureFacts | undefined;
  /** Nobody could be asked as of now, and said when that will be; in ms from now. */
  readonly againInMs?: number | undefined;
}

/** Items of a list that are looked at: a longer one is none that was asked for this call. */
const mostItems = 10_000;

/** The value under names with dots between: own properties alone, undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** Returns what a tool is given to be asked about a call; undefined where the call does not have what it takes. */
export function questionOf({ input }: Pick<ToolRule, 'input'>, call: LostAnswer): object | undefined {
  const values = Object.entries(input).map(([name, mapped]) => [name, mappedValue(mapped, call)] as const);
  return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
}

/**
 * Looks for a call in what a tool answered. Whatever is not clear is `unknown`: several items, an answer that is no list or not all of it, an
 * item that does not say what it is compared by.
 * @param beside - what else came with the answer, and may say that the list is not all there is. @defaultValue nothing
 */
export function judgeAnswer(rule: ToolRule, call: LostAnswer, answer: unknown, beside?: unknown): Finding {
  const { tool } = rule;
  const unclear = (how: string): Finding => ({ verdict: 'unknown', how: `${tool} ${how}` });
  const items = rule.items === undefined ? answer : valueAt(answer, rule.items);
  if (!Array.isArray(items)) return unclear('gave no list');
  if (items.length > mostItems) return unclear(`gave more than ${mostItems} items`);
  const wanted = Object.entries(rule.match).map(([path, mapped]) => [path, mappedValue(mapped, call)] as const);
  const missing = wanted.find(([, value]) => value === undefined)?.[0];
  if (missing !== undefined) return unclear(`cannot be compared: the call has nothing for ${missing}`);

  const found: unknown[] = [];
  let near = 0;
  let unreadable = 0;
  for (const item of items) {
    const fit = fitOf(item, wanted);
    const when = fit === 'same' ? whenMade(rule, call, item) : 'after';
    if (fit === 'unreadable' || (fit === 'same' && when === 'unreadable')) unreadable++;
    else if (fit === 'same' && when === 'near') near++;
    else if (fit === 'same' && when === 'after') found.push(item);
  }
  if (found.length > 1) return unclear(`lists ${found.length} that match`);
  if (near > 0) return unclear('lists one that was made about when the call began');
  if (found.length === 1) return done(rule, found[0]);
  if (unreadable > 0) return unclear('lists items that do not say what they are compared by');
  if (mayBeCut(answer, items) || mayBeCut(beside, items)) return unclear('does not list all there is');
  return { verdict: 'not_done', how: `${tool} does not list it` };
}

function done({ tool, named, result }: ToolRule, item: unknown): Finding {
  const name = valueAt(item, named);
  const isName = typeof name === 'number' || (typeof name === 'string' && name !== '' && name.length <= 200);
  const how = isName ? `${tool} lists it as ${name}` : `${tool} lists it`;
  if (result === undefined) return { verdict: 'done', how };
  const value = result === 'item' ? item : valueAt(item, result.slice('item.'.length));
  return { verdict: 'done', how, ...(value !== undefined && { result: { value } }) };
}

function mappedValue(mapped: MappedValue, call: LostAnswer): unknown {
  if (typeof mapped === 'object' && mapped !== null) return mapped.value;
  if (typeof mapped !== 'string') return mapped;
  if (mapped === 'call.id') return call.call;
  if (mapped === 'call.session') return call.session;
  if (mapped === 'call.startedAt') return new Date(call.startedAt).toISOString();
  const value = mapped === 'input' ? call.input : valueAt(call.input, mapped.slice('input.'.length));
  // Nothing is known by an empty reference.
  return value === null || value === '' ? undefined : value;
}

function fitOf(
  item: unknown,
  wanted: readonly (readonly [path: string, value: unknown])[],
): 'same' | 'other' | 'unreadable' {
  let fit: 'same' | 'unreadable' = 'same';
  for (const [path, value] of wanted) {
    const given = valueAt(item, path);
    if (given === undefined || given === null) fit = 'unreadable';
    else if (!isSame(given, value)) return 'other';
  }
  return fit;
}

/** A number and its digits are the same: one side may have it as text. To miss the call would be worse than to find too much. */
function isSame(given: unknown, wanted: unknown): boolean {
  const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;
  if (isPlain(given) && isPlain(wanted)) return String(given) === String(wanted);
  return canonicalJson(given) === canonicalJson(wanted);
}

/** Tells whether an item was made before the call, after it began, or so near to that that clocks could tell otherwise. */
function whenMade(
  { since, clockToleranceMs }: ToolRule,
  { startedAt }: LostAnswer,
  item: unknown,
): 'before' | 'near' | 'after' | 'unreadable' {
  if (since === undefined) return 'after';
  const at = timeIn(valueAt(item, since));
  if (at === undefined) return 'unreadable';
  if (at >= startedAt) return 'after';
  return at >= startedAt - clockToleranceMs ? 'near' : 'before';
}

/** Numbers below this are seconds since the epoch: as ms they would be before 1973. */
const leastMs = 100_000_000_000;

/** Seconds since the epoch before September 2001 are no time that an item was made at. */
const leastSeconds = 1_000_000_000;

/** An instant: with seconds and a zone. A day, or an hour of nobody knows where, would be taken for a time before the call. */
const instant = /\d{1,2}:\d{2}:\d{2}(\.\d+)?\s*(Z|GMT|UTC|[+-]\d{2}:?\d{2})$/i;

function timeIn(value: unknown): number | undefined {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value < leastSeconds) return undefined;
    return value < leastMs ? value * 1000 : value;
  }
  if (typeof value !== 'string' || value.length > 64) return undefined;
  if (/^\d{10,16}(\.\d+)?$/.test(value)) return timeIn(Number(value));
  const at = instant.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** So far below the answer its words are looked at: `meta.page.next`. */
const mostSteps = 3;

/**
 * Tells whether an answer says, or may say, that its list is not all there is: a next page, a cursor, a total above what it has, a limit that it reached,
 * errors. Anything in doubt counts as cut: of a call that is not listed it could not be told that it did not happen.
 * @param items - the list, which is somewhere in the answer.
 */
function mayBeCut(answer: unknown, items: readonly unknown[], steps = mostSteps): boolean {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer) || steps === 0) return false;
  return Object.entries(answer).some(
    ([name, value]) => saysMore(name.toLowerCase(), value, items.length) || mayBeCut(value, items, steps - 1),
  );
}

function saysMore(name: string, value: unknown, length: number): boolean {
  if (/next|more|cursor|truncat|incomplete|partial|continu|error|warning/.test(name)) return isSaid(value);
  if (/complete|exhausted|islast|last_?page/.test(name)) return value === false;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number') return false;
  if (/pages/.test(name)) return number > 1;
  if (/limit|size|perpage|per_page|maxresults/.test(name)) return number <= length;
  return /total|count/.test(name) && number > length;
}

function isSaid(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0;
}
