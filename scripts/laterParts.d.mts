import type { BuiltFile } from './facades.d.mts';

export function withLaterParts<T extends BuiltFile>(
  output: readonly T[],
  parts: {
    readonly atOnce: ReadonlySet<string>;
    readonly asked: ReadonlySet<string>;
    readonly called: ReadonlySet<string>;
  },
): T[];
export function compiledAtOnce(code: string): string;
export const requiredPart: string;
export function importedParts(files: readonly string[]): string;
