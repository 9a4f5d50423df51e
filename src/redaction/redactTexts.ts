import type { FactRedactor } from './redactFact.ts';
import { holdsName } from './secretNames.ts';
import { keptApart } from './shownNames.ts';

/**
 * A copy of plain data with each text redacted and every name left as it is: for data whose names are known, where a number of tokens is no
 * token. Names stay apart. Texts that occur many times are looked at once.
 */
export function redactTexts<T>(data: T, redact: FactRedactor): T {
  const known = new Map<string, string>();
  const clean = (text: string): string => {
    const found = known.get(text) ?? redact({ text }).text;
    known.set(text, found);
    return found;
  };
  return withTexts(data, clean, '') as T;
}

/** Fields of attempts and incidents that hold names too. */
const moreNames = new Set(['name', 'id', 'scope']);

function withTexts(value: unknown, clean: (text: string) => string, field: string): unknown {
  if (typeof value === 'string')
    return holdsName(field) || moreNames.has(field) ? keptApart(value, clean(value)) : clean(value);
  if (Array.isArray(value)) return value.map((each) => withTexts(each, clean, ''));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withTexts(each, clean, name)]));
}
