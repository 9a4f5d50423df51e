import { createHash } from 'node:crypto';

/** A change of the source that the tests are to notice, and where it is made. */
export interface Place {
  readonly file: string;
  readonly mutator: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A part of all mutants, in per cent, drawn by a seed. A larger share of the same seed has those of the smaller one. */
export interface Sample {
  readonly seed: number;
  readonly share: number;
}

/** @returns whether a mutant belongs to a sample. */
export function inSample({ seed, share }: Sample, { file, mutator, replacement, location }: Place): boolean {
  const { start, end } = location;
  const place = [seed, file, start.line, start.column, end.line, end.column, mutator, replacement].join('\n');
  return createHash('sha256').update(place).digest().readUInt32BE() < (share / 100) * 2 ** 32;
}
