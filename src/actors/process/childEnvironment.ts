import type { SubprocessInput } from '../../machines/subprocessInput.ts';
import { markName, markVariable } from './processMark.ts';
import { safeEnvironment } from './safeEnvironment.ts';

/** Options that decide over the environment of a child. */
type EnvironmentOptions = Pick<SubprocessInput, 'env' | 'envMode' | 'envAllow'>;

/** The whole environment a child gets, as of now: what passes of `host`, what is set for it, and the mark of its run. */
export function childEnvironment(
  { env = {}, envMode = 'extend', envAllow }: EnvironmentOptions,
  mark: string,
  host: NodeJS.ProcessEnv = process.env,
): Readonly<Record<string, string>> {
  const passed = passing(envMode, envAllow, host);
  const all = Object.entries({ ...passed, ...env, [markName]: markVariable(mark) });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function passing(
  envMode: EnvironmentOptions['envMode'],
  envAllow: EnvironmentOptions['envAllow'],
  host: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  if (envMode === 'only') return {};
  if (envMode === 'safe') return safeEnvironment(envAllow, host);
  return envAllow === undefined ? host : pick(host, envAllow);
}

const pick = (host: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(names.map((name) => [name, host[name]]));
