import type { SubprocessInput } from '../machines/subprocessInput.ts';
import { markName, markVariable } from './processMark.ts';

/** What decides over the environment of a child. */
export type EnvironmentOptions = Pick<SubprocessInput, 'env' | 'envMode' | 'envAllow'>;

/** The whole environment a child gets, as of now: what passes of `host`, what is set for it, and the mark of its run. */
export function childEnvironment(
  { env = {}, envMode = 'extend', envAllow }: EnvironmentOptions,
  mark: string,
  host: NodeJS.ProcessEnv = process.env,
): Readonly<Record<string, string>> {
  const passed = envMode === 'only' ? {} : envAllow === undefined ? host : pick(host, envAllow);
  const all = Object.entries({ ...passed, ...env, [markName]: markVariable(mark) });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

const pick = (host: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(names.map((name) => [name, host[name]]));
