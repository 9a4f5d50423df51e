import { boundedJson } from '../policy/boundedJson.ts';
import { createFactRedactor } from './redactFact.ts';
import type { Hiding } from './secrets.ts';

/** Turns data into bounded JSON without secrets. Never throws. */
export type MaskedJson = (data: Readonly<Record<string, unknown>>) => string;

/** For data that goes out as JSON and is told nowhere else. @param secrets - found wherever they stand. @defaultValue none */
export function createMaskedJson(secrets?: Hiding): MaskedJson {
  const redact = createFactRedactor(secrets);
  return (data) => boundedJson(redact(data));
}
