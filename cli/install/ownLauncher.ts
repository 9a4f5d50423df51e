import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Launcher } from '../../install/launcher.ts';
import type { Environment } from '../../src/store/face.ts';

/** Beside the bundle that holds this, or where the bundles are when this is run from its source. */
const programs = ['../cli/main.js', '../../dist/cli/main.js'];

/**
 * Finds the start of this program from anywhere: Node and the script, both by their whole paths, as agents that a desktop starts know no PATH of a shell. For
 * Node it is the path that stays when it is updated, if one leads there.
 */
export function ownLauncher(env: Environment): Launcher {
  const paths = programs.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const script = paths.find((path) => existsSync(path)) ?? paths[0] ?? '';
  return { command: lastingNode(env), args: [lastingScript(script)] };
}

/** pnpm keeps a package in a folder of its version, and links it from a place that stays when it is updated. */
export function lastingScript(script: string): string {
  const linked = script.replace(/([\\/]node_modules)[\\/]\.pnpm[\\/].*[\\/]node_modules(?=[\\/]unwedge[\\/])/, '$1');
  return linked !== script && realPath(linked) === realPath(script) ? linked : script;
}

function lastingNode(env: Environment): string {
  const real = realPath(process.execPath);
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const onPath = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  return onPath.find((path) => realPath(path) === real) ?? process.execPath;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The environment as agents have it. npx, and what else runs a package, puts `node_modules/.bin` on the PATH of what it starts and of nothing
 * else: an agent finds no program there.
 */
export function agentEnvironment(env: Environment): Environment {
  const { PATH, npm_config_user_agent: runner } = env;
  if (PATH === undefined || runner === undefined) return env;
  const folders = PATH.split(delimiter).filter((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder));
  return { ...env, PATH: folders.join(delimiter) };
}
