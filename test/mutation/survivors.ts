import { readFileSync } from 'node:fs';
import type { Mutant } from './report.ts';

/** Changes that no test can notice, or that none is to, by the reason why. */
export interface Explanation {
  readonly why: string;
  readonly changes: readonly { readonly file: string; readonly code: string; readonly replacement: string }[];
}

export const explanations = JSON.parse(
  readFileSync(new URL('survivors.json', import.meta.url), 'utf8'),
) as readonly Explanation[];

/** @returns why a change is not noticed, where that is known. */
export function explained({ file, code, replacement }: Mutant, known = explanations): string | undefined {
  const same = (one: Explanation['changes'][number]): boolean =>
    one.file === file && flat(one.code) === flat(code) && flat(one.replacement) === flat(replacement);
  return known.find(({ changes }) => changes.some(same))?.why;
}

/** A code on one line, cut: that is enough to know it by. */
export function flat(code: string): string {
  return code.replace(/\s+/g, ' ').trim().slice(0, 120);
}
