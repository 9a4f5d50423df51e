import { isDeepStrictEqual } from 'node:util';
import { type Document, readValue } from './document.ts';
import { type OwnSetting, restoreSetting } from './fileSetting.ts';
import { DocumentError } from './tree.ts';
import type { Unwrapped } from './unwrapFile.ts';

/**
 * Checks that two texts of a file say the same, but for what is ours in the first one. Read by another parser than the one that made the second.
 * @throws {@link DocumentError} when they do not, or when one cannot be read.
 */
export function checkSame(document: Document, other: string, ours: readonly Unwrapped[], setting?: OwnSetting): void {
  const value = readValue(document.text, document.format);
  for (const entry of ours) restore(value, entry);
  if (setting !== undefined) restoreSetting(value as Record<string, unknown>, setting);
  if (!isDeepStrictEqual(value, readValue(other, document.format))) {
    throw new DocumentError('what would be written does not say the same as before');
  }
}

type Fields = Record<string | number, unknown>;

function restore(root: unknown, { path, commandKey, command, args }: Unwrapped): void {
  let at = root as Fields | undefined;
  for (const step of path) at = at?.[step] as Fields | undefined;
  if (at === undefined) return;
  at[commandKey] = command;
  if (args === 'none') delete at['args'];
  else if (args !== undefined) at['args'] = args;
}
