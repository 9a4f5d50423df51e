import { safeEnvironment } from '../process/childEnvironment.ts';

/** Settings that decide over the environment of a server. */
export interface EnvironmentSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly envMode: 'safe' | 'extend';
}

/** The environment the server gets, as of now. */
export function mcpEnvironment({ env, envMode }: EnvironmentSettings): NodeJS.ProcessEnv {
  return { ...(envMode === 'extend' ? process.env : safeEnvironment()), ...env };
}

/** Returns the environment of a server: the whole, or all that is safe and all that is allowed. */
export function allowedEnvironment(
  envAllow: readonly string[] | undefined,
  env: Readonly<Record<string, string>> = {},
): EnvironmentSettings {
  if (envAllow === undefined) return { envMode: 'extend', env };
  return { envMode: 'safe', env: { ...safeEnvironment(envAllow), ...env } };
}
