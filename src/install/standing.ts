import { delimiter, isAbsolute, join } from 'node:path';
import { bareLauncher } from './launcher.ts';
import type { World } from './world.ts';

/** Packages in archives, or with links that only the runtime of their package manager follows. */
const plugAndPlay = /\.zip[\\/]|[\\/](?:__virtual__|unplugged)[\\/]/;

const better = 'Install it for yourself: `npm install --global unwedge`, then run this again.';

/** Why an agent could not start this very copy of the program by its path; undefined when it can. */
export function whyNotByPath({ launcher }: Pick<World, 'launcher'>): string | undefined {
  if (!launcher.args.some((script) => plugAndPlay.test(script))) return undefined;
  return `unwedge is installed by Plug'n'Play, so that Node alone cannot start it: servers would not start, and hooks would block nothing. ${better}`;
}

/**
 * Why an agent could not start this program by its name; undefined when it can, or when nothing is known of the PATH. Folders that are
 * relative count for nothing: an agent is started elsewhere.
 */
export function whyNotByName({ env, files, platform }: Pick<World, 'env' | 'files' | 'platform'>): string | undefined {
  const path = env['PATH'] ?? env['Path'];
  if (path === undefined) return undefined;
  const isWindows = platform === 'win32';
  const names = isWindows ? ['.cmd', '.exe', '.bat'].map((end) => bareLauncher.command + end) : [bareLauncher.command];
  const runs = (program: string): boolean => {
    try {
      const facts = files.facts(program);
      return facts?.isFile === true && (isWindows || (facts.mode & 0o111) !== 0);
    } catch {
      // A folder that may not be read is passed over, as the system does.
      return false;
    }
  };
  const folders = path.split(isWindows ? ';' : delimiter).filter((folder) => isAbsolute(folder));
  const isThere = folders.some((folder) => names.some((name) => runs(join(folder, name))));
  if (isThere) return undefined;
  return `a file that others have too starts \`unwedge\` by its name, and that is not on the PATH (one in node_modules is found by npm alone): servers would not start, and hooks would block nothing. ${better}`;
}
