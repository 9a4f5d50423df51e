import type { Program } from './entry.ts';

/**
 * The entry's own name: that of a package is the same for two entries that start it. A name that its agent would fill in, that would be taken for an
 * option, or that a table could not show is left out.
 */
export function nameOptions({ path }: Program): readonly string[] {
  const name = String(path.at(-1) ?? '');
  return /^[\p{L}\p{N}_][^\p{C}\p{Zl}\p{Zp}$]{0,99}$/u.test(name) ? ['--name', name] : [];
}
