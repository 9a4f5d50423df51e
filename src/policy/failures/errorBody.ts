import { read, readString } from './errorChain.ts';

/** Contents of the body of an answer, wherever the clients keep it. */
export interface ErrorBody {
  /** Names of errors, as `type`, `code`, `status` and `reason` give them. */
  readonly names: readonly string[];
  /** Words for people. */
  readonly texts: readonly string[];
  /** Numbers in the place of a name: HTTP statuses mostly. */
  readonly numbers: readonly number[];
  /** All that was found with its name, for hints: `retry_after` and the like. */
  readonly fields: readonly (readonly [key: string, value: unknown])[];
  /** Counts of the names and the numbers that stand in fields; those behind them stand in the message alone, which may quote anything. */
  readonly inFields: { readonly names: number; readonly numbers: number };
}

const words = (...texts: readonly string[]): ReadonlySet<string> => new Set(texts.flatMap((text) => text.split(' ')));

/** Places in which clients keep an answer, and APIs what they say of an error. */
const inside = words(
  'error errors body data details detail rawError errorResponse errorDetails violations responseBody metadata',
  'extensions parameters raw fault response errorInfo response_metadata',
);
const named = words(
  'type code status reason error error_code errorCode Code __type codeName error_type codexErrorInfo errorType errno',
  'status_code',
);
const worded = words('message msg detail details error_description description title error raw');

/** Limits on how deep a body is looked into, and at how many objects. */
const deepest = 8;
const most = 60;
const longestList = 10;
/** Longest text that is read as JSON, in characters. */
const longestJson = 20_000;
const longestText = 2000;

/** Reads what the bodies say that an error carries. Never throws. */
export function errorBody(error: unknown): ErrorBody {
  const names: string[] = [];
  const texts: string[] = [];
  const numbers: number[] = [];
  const fields: [string, unknown][] = [];
  const seen = new Set<unknown>();

  const visit = (value: unknown, depth: number): void => {
    const object = typeof value === 'string' ? jsonIn(value) : value;
    if (typeof object !== 'object' || object === null || depth > deepest || seen.size >= most || seen.has(object))
      return;
    seen.add(object);
    if (Array.isArray(object)) {
      for (const each of object.slice(0, longestList)) visit(each, depth + 1);
      return;
    }
    // The thrown error itself is looked at elsewhere: its words are those of the client.
    const isBody = depth > 0;
    for (const key of keysOf(object)) {
      const each = read(object, key);
      if (named.has(key)) note(each, isBody);
      if (isBody && worded.has(key) && typeof each === 'string') texts.push(each.slice(0, longestText));
      if (typeof each === 'string' || typeof each === 'number' || key === 'retryDelay') fields.push([key, each]);
      if (/^quotaId$/.test(key) && /per(?:day|month|week)/i.test(String(each))) names.push('dailyLimit');
      if (inside.has(key)) visit(each, depth + 1);
    }
  };
  const note = (value: unknown, isBody: boolean): void => {
    if (typeof value === 'string') names.push(value);
    if (isBody && typeof value === 'number') numbers.push(value);
    if (isBody && typeof value === 'string' && /^\d{3}$/.test(value)) numbers.push(Number(value));
  };

  visit(error, 0);
  const inFields =
    typeof error === 'string' ? { names: 0, numbers: 0 } : { names: names.length, numbers: numbers.length };
  // The message of Google, Anthropic and others is the body.
  const message = readString(error, 'message') ?? (typeof error === 'string' ? error : undefined);
  if (message !== undefined) visit(jsonIn(message), 1);
  return { names, texts, numbers, fields, inFields };
}

function keysOf(object: object): readonly string[] {
  try {
    const own = Object.keys(object).slice(0, 100);
    // Getters that an error of a class has are named there.
    return own.includes('response') || !(object instanceof Error) ? own : [...own, 'response'];
  } catch {
    return [];
  }
}

/** The JSON object that a text is, or ends with. */
function jsonIn(text: string): unknown {
  const start = text.indexOf('{');
  if (start < 0 || text.length > longestJson) return undefined;
  const end = text.lastIndexOf('}');
  if (end < start) return undefined;
  try {
    return JSON.parse(text.slice(start, end + 1)) as unknown;
  } catch {
    return undefined;
  }
}
