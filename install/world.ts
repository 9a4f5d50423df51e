import type { Environment } from '../src/store/face.ts';
import type { Files } from './files.ts';
import type { Launcher } from './launcher.ts';
import { dirname, join } from 'node:path';

/** Parts of the machine it is made on that an installation depends on. */
export interface World {
  readonly files: Files;
  readonly env: Environment;
  /** The home of the user. */
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** Id of the user; undefined where there are none. */
  readonly uid: number | undefined;
  /** Folder where the files of the system begin. @defaultValue '/' */
  readonly systemRoot?: string | undefined;
  /** Words that start this program from anywhere on this machine. */
  readonly launcher: Launcher;
  /** Folder of the record and the backups. */
  readonly stateDirectory: string;
  /** Wall time in ms since the epoch. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Aborted when the user ends it. */
  readonly signal: AbortSignal;
}

const marks = ['.git', '.mcp.json', '.claude', '.codex', '.cursor', '.vscode'];

/** The folder of the project: the nearest one above that looks so, else the working directory. The home of the user is none. */
export function projectFolder({ files, cwd, home }: Pick<World, 'files' | 'cwd' | 'home'>): string {
  for (let folder = cwd; folder !== home && folder !== dirname(folder); folder = dirname(folder)) {
    if (marks.some((mark) => files.facts(join(folder, mark)) !== undefined)) return folder;
  }
  return cwd;
}
