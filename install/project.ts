import { dirname, join } from 'node:path';
import type { World } from './world.ts';

const marks = ['.git', '.mcp.json', '.claude', '.codex', '.cursor', '.vscode'];

/** The folder of the project: the nearest one above that looks so, else the working directory. The home of the user is none. */
export function projectFolder({ files, cwd, home }: Pick<World, 'files' | 'cwd' | 'home'>): string {
  for (let folder = cwd; folder !== home && folder !== dirname(folder); folder = dirname(folder)) {
    if (marks.some((mark) => files.facts(join(folder, mark)) !== undefined)) return folder;
  }
  return cwd;
}
