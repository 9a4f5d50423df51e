import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/problems.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** A directory with these files. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** The lines of the ConfigError that a loading ends with. */
export async function problemsOf(loading: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigError)) throw error ?? new Error('nothing was wrong');
  return error.message.split('\n');
}
