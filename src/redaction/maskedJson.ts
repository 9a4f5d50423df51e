import { boundedJson, maxEntries } from '../policy/boundedJson.ts';
import { createFactRedactor } from './redactFact.ts';
import type { Hiding } from './secrets.ts';

/** Turns data into bounded JSON without secrets. Never throws. */
type MaskedJson = (data: Readonly<Record<string, unknown>>) => string;

/** Texts that are looked into, in characters: more than the JSON takes, and few milliseconds. What a machine has, or a wire carries, may be much more. */
const maxChars = 200_000;

/** For data that goes out as JSON and is told nowhere else. @param secrets - found wherever they stand. @defaultValue none */
export function createMaskedJson(secrets?: Hiding): MaskedJson {
  const redact = createFactRedactor(secrets, { items: maxEntries, chars: maxChars });
  return (data) => boundedJson(redact(data));
}
