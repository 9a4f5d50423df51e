import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DoctorWorld } from './doctor/finding.ts';
import { findProgram } from './doctor/findProgram.ts';
import { ownVersion } from './doctor/ownVersion.ts';
import { agentEnvironment } from './install/ownLauncher.ts';
import type { Io } from './io.ts';

/** Returns the words by which a shell here starts this unwedge: its name, where that finds this version, else through npx. */
export function ownCommand({ env, cwd, program }: Pick<DoctorWorld, 'env' | 'cwd' | 'program'>): string {
  const own = ownVersion();
  const first = findProgram('unwedge', { env: agentEnvironment(env), cwd });
  if (first.ok && packageAround(first.path)?.version === own) return 'unwedge';
  // In a clone npx finds the program of the package itself.
  const isOwn = cwd === packageAround(program)?.directory;
  return isOwn || localProgram(program) !== undefined ? 'npx unwedge' : `npx unwedge@${own}`;
}

/** Writes a command of ours, and what is said behind it, as a shell here starts it. */
export function typed(command: string, { own = 'unwedge' }: Pick<Io, 'own'>): string {
  return told(
    command.replace(/^unwedge (?=[a-z-])/, () => `${own} `),
    { own },
  );
}

/** Writes a text with the commands of ours in it, those in backticks, as a shell here starts them. It may begin with the name of a proxy, `unwedge mcp kb`. */
export function told(text: string, { own = 'unwedge' }: Pick<Io, 'own'>): string {
  return text.replaceAll(/`unwedge (?=[a-z-])/g, () => `\`${own} `);
}

/** Finds the link that npm made for a package that was installed in a project; undefined for one that was not. */
export function localProgram(program: string): string | undefined {
  const directory = packageAround(program)?.directory;
  if (directory === undefined || projectOf(directory) === directory) return undefined;
  const local = join(projectOf(directory), 'node_modules', '.bin', 'unwedge');
  return existsSync(local) ? local : undefined;
}

/** The package that a program of it belongs to. */
export function packageAround(path: string): { readonly directory: string; readonly version: string } | undefined {
  let directory: string;
  try {
    directory = dirname(realpathSync(path));
  } catch {
    return undefined;
  }
  for (; dirname(directory) !== directory; directory = dirname(directory)) {
    try {
      const found = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Record<string, unknown>;
      // One without a name says how files beside it are read, and is no package's.
      if (found['name'] === undefined) continue;
      return found['name'] === 'unwedge' ? { directory, version: String(found['version']) } : undefined;
    } catch {
      // None here, or one that cannot be read: the next directory up.
    }
  }
  return undefined;
}

/** Finds the directory that npm is run in for the dependencies of a package: the one that has it under `node_modules`. */
export function projectOf(directory: string): string {
  const at = directory.lastIndexOf('/node_modules/');
  return at < 0 ? directory : directory.slice(0, at);
}
