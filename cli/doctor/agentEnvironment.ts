import { delimiter } from 'node:path';
import type { Environment } from '../../src/store/paths.ts';

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
