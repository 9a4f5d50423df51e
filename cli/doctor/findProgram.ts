import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Path of a program, or the fault with it. */
type FoundProgram =
  | { readonly ok: true; readonly path: string }
  /** `path`: of the file that cannot be run. */
  | { readonly ok: false; readonly why: 'missing' }
  | { readonly ok: false; readonly why: 'not executable'; readonly path: string };

/**
 * Finds the program that a command starts, as the system does, without starting it.
 * @param surroundings - `cwd`: where it would be started.
 */
export function findProgram(
  command: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): FoundProgram {
  const hasDirectory = command.includes('/');
  const places = hasDirectory
    ? [isAbsolute(command) ? command : resolve(cwd, command)]
    : (env['PATH'] ?? '')
        .split(delimiter)
        .map((directory) => join(directory === '' ? cwd : resolve(cwd, directory), command));
  let unusable: string | undefined;
  for (const path of places) {
    if (!isFile(path)) continue;
    if (isExecutable(path)) return { ok: true, path };
    unusable ??= path;
  }
  return unusable === undefined ? { ok: false, why: 'missing' } : { ok: false, why: 'not executable', path: unusable };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
