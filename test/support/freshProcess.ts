import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const root = fileURLToPath(new URL('../..', import.meta.url));
const watch = fileURLToPath(new URL('../fixtures/watchLoading.mjs', import.meta.url));

export interface Loading {
  /** Part of the address of what cannot be loaded. */
  readonly fails?: string;
  /** Part of the address of what cannot be loaded the first time it is asked for. */
  readonly failsOnce?: string;
  /** Part of the address of what is not loaded before the program calls `letGo()`. */
  readonly holds?: string;
  /** Options of Node, as `NODE_OPTIONS` has them. */
  readonly nodeOptions?: string;
}

/** Runs a program of a user of the package, in a process of its own. What it prints is JSON. */
export async function runFresh(program: string, { fails, failsOnce, holds, nodeOptions }: Loading = {}) {
  const env = {
    ...(fails !== undefined && { LOADING_FAILS: fails }),
    ...(failsOnce !== undefined && { LOADING_FAILS_ONCE: failsOnce }),
    ...(holds !== undefined && { LOADING_HOLDS: holds }),
    ...(nodeOptions !== undefined && { NODE_OPTIONS: nodeOptions }),
  };
  const { stdout, stderr, exitCode } = await execa(
    process.execPath,
    ['--import', watch, '--input-type=module', '--eval', program],
    { cwd: root, env, reject: false },
  );
  const lines = stderr.split('\n');
  const loaded = new Set(lines.filter((line) => line.startsWith('loaded ')));
  const packages = [...loaded].flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  return {
    exitCode,
    printed: stdout === '' ? undefined : (JSON.parse(stdout) as unknown),
    /** What went wrong, as text. */
    complaints: lines.filter((line) => !line.startsWith('loaded ')).join('\n'),
    /** The modules of ours. */
    own: [...loaded].filter((url) => url.includes('/dist/') && !url.includes('/node_modules/')),
    packages: [...new Set(packages)].sort((a, b) => a.localeCompare(b)),
  };
}
