import { dateOf, header, type HeaderSource, waitUntilReset } from './hints.ts';
import type { RateLimitHint, RateLimitHints } from '../rateLimit.ts';

/** Longest reset that is believed: 31 days, in ms. */
const longestResetMs = 31 * 24 * 3_600_000;

/** Names that all headers of limits have a part of. */
const told = /ratelimit/i;

/** Headers of this length and more are not read. */
const longestHeader = 1000;

/**
 * Reads what the headers of an answer say about its rate limits: `anthropic-ratelimit-*`, `x-ratelimit-*` (with and without a kind: OpenAI, Azure, GitHub),
 * and `RateLimit` with `RateLimit-Policy`. Counted are `requests`, `tokens`, `inputTokens` and `outputTokens`. Anything missing, negative, or a limit of 0 is
 * unknown. Never throws.
 * @param wallNow - wall time in ms, for dates where the response has none of its own.
 *
 * @example
 * const { requests } = rateLimitHints(response.headers, Date.now());
 * if (requests?.remaining === 0) console.log(`full again in ${requests.resetMs} ms`);
 */
export function rateLimitHints(headers: HeaderSource, wallNow: number): RateLimitHints {
  if (typeof headers.get !== 'function' && !Object.keys(headers).some((name) => told.test(name))) return {};
  const read = (name: string): string | undefined => {
    const value = header(headers, name);
    return value === undefined || value === '' || value.length >= longestHeader ? undefined : value;
  };
  const now = dateOf(read('date')) ?? wallNow;
  const found: Record<string, RateLimitHint> = {};
  // The more telling family comes later, and counts.
  const note = (name: string, hint: RateLimitHint): void => {
    const known = sound(hint);
    if (known !== undefined) found[name] = known;
  };
  for (const hint of standardHints(read)) note('requests', hint);
  note('requests', plainHint(read, 'x-ratelimit-', now));
  note('requests', plainHint(read, 'ratelimit-', now));
  for (const kind of ['requests', 'tokens']) {
    note(kind, {
      limit: count(read(`x-ratelimit-limit-${kind}`)),
      remaining: count(read(`x-ratelimit-remaining-${kind}`)),
      resetMs: durationIn(read(`x-ratelimit-reset-${kind}`)),
    });
  }
  for (const [name, kind] of anthropicKinds) {
    const reset = dateOf(read(`anthropic-ratelimit-${kind}-reset`));
    note(name, {
      limit: count(read(`anthropic-ratelimit-${kind}-limit`)),
      remaining: count(read(`anthropic-ratelimit-${kind}-remaining`)),
      resetMs: reset === undefined ? undefined : reset - now,
    });
  }
  return found;
}

const anthropicKinds = [
  ['requests', 'requests'],
  ['tokens', 'tokens'],
  ['inputTokens', 'input-tokens'],
  ['outputTokens', 'output-tokens'],
] as const;

/** Returns what is known of a hint for certain; undefined when that is nothing. */
function sound({ limit, remaining, resetMs, perMs, atOnce }: RateLimitHint): RateLimitHint | undefined {
  const hint: { -readonly [K in keyof RateLimitHint]: RateLimitHint[K] } = {};
  if (limit !== undefined && limit > 0) hint.limit = limit;
  // Some say 0 for "unknown": then there is no limit either, and no reset.
  const isNothing = remaining === 0 && hint.limit === undefined && (resetMs ?? 0) <= 0;
  if (remaining !== undefined && !isNothing) hint.remaining = remaining;
  if (resetMs !== undefined && !(isNothing && resetMs <= 0)) hint.resetMs = clampReset(resetMs);
  if (perMs !== undefined && perMs > 0) hint.perMs = clampReset(perMs);
  if (Object.keys(hint).length === 0) return undefined;
  if (atOnce === true) hint.atOnce = true;
  return hint;
}

function clampReset(ms: number): number {
  return Math.min(Math.max(0, ms), longestResetMs);
}

/** A whole number of at least 0; of a list (`100, 100;w=60`) the first. */
function count(text: string | undefined): number | undefined {
  const [, digits] = /^(\d{1,15})(?:\.\d+)?(?:\s*[,;].*)?$/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

const units: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 1e-6,
};

/** `6m0s`, `1.5s`, `12ms` as Go writes them; a number alone is seconds. In ms. */
function durationIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,10}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(?:\d{1,10}(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, value, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(value) * (units[unit] ?? 0);
  }
  return ms;
}

/** Limits without a kind: their reset is the second of the epoch, its ms, or seconds from now; the window is fixed. */
function plainHint(read: (name: string) => string | undefined, prefix: string, now: number): RateLimitHint {
  const reset = read(`${prefix}reset`);
  const seconds = /^\d{1,15}(?:\.\d+)?$/.test(reset ?? '') ? Number(reset) : undefined;
  const date = dateOf(reset);
  const numbered = seconds === undefined ? durationIn(reset) : waitUntilReset(seconds, now);
  const resetMs = date === undefined ? numbered : date - now;
  const limit = read(`${prefix}limit`);
  const [, window] = /;\s*w=(\d{1,9})/.exec(limit ?? '') ?? [];
  return {
    limit: count(limit),
    remaining: count(read(`${prefix}remaining`)),
    resetMs,
    perMs: window === undefined ? undefined : Number(window) * 1000,
    atOnce: true,
  };
}

/** An item of a structured field: its name or value, and its parameters. */
interface Item {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * `RateLimit: "default";r=50;t=30` with `RateLimit-Policy: "default";q=100;w=60`, as well as the older `limit=100, remaining=50, reset=30`. Of
 * several limits the tightest one comes last.
 */
function standardHints(read: (name: string) => string | undefined): readonly RateLimitHint[] {
  const policies = itemsIn(read('ratelimit-policy'));
  const current = itemsIn(read('ratelimit'));
  const older = new Map(current.flatMap(({ value }) => pairIn(value)));
  if (older.size > 0) {
    const limit = secondsOf(older, 'limit');
    const own = policies.find(({ value }) => Number(value) === limit);
    return [hintOf({ limit, remaining: secondsOf(older, 'remaining'), reset: secondsOf(older, 'reset') }, own)];
  }
  return current
    .map((item) => ({ item, policy: policies.find(({ value }) => value === item.value) }))
    .filter(({ policy }) => countsRequests(policy))
    .map(({ item: { parameters }, policy }) => {
      const limit = policy && secondsOf(policy.parameters, 'q');
      return hintOf({ limit, remaining: secondsOf(parameters, 'r'), reset: secondsOf(parameters, 't') }, policy);
    })
    .toSorted((one, other) => shareLeft(other) - shareLeft(one));
}

interface Figures {
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  readonly reset: number | undefined;
}

function hintOf({ limit, remaining, reset }: Figures, policy: Item | undefined): RateLimitHint {
  const window = policy && secondsOf(policy.parameters, 'w');
  return {
    limit,
    remaining,
    resetMs: reset === undefined ? undefined : reset * 1000,
    perMs: window === undefined ? undefined : window * 1000,
    atOnce: true,
  };
}

function countsRequests(policy: Item | undefined): boolean {
  const unit = policy?.parameters.get('qu');
  return unit === undefined || unit === 'requests';
}

function shareLeft({ limit, remaining }: RateLimitHint): number {
  return (remaining ?? Number.POSITIVE_INFINITY) / (limit ?? 1);
}

function secondsOf(parameters: ReadonlyMap<string, string>, name: string): number | undefined {
  return count(parameters.get(name));
}

function pairIn(value: string): readonly (readonly [string, string])[] {
  const [, name, figure] = /^(limit|remaining|reset)=(\d+)$/.exec(value) ?? [];
  return name === undefined || figure === undefined ? [] : [[name, figure]];
}

/** The items of a list; commas and semicolons in quotes are text. */
function itemsIn(text: string | undefined): readonly Item[] {
  if (text === undefined) return [];
  return split(text, ',').map((item) => {
    const [value = '', ...parameters] = split(item, ';');
    return { value: unquoted(value), parameters: new Map(parameters.map(parameterIn)) };
  });
}

function parameterIn(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), unquoted(text.slice(at + 1))];
}

function split(text: string, separator: ',' | ';'): readonly string[] {
  const parts = [''];
  let quoted = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    if (character === separator && !quoted) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

function unquoted(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}
