import { safeEnvironment } from '../process/safeEnvironment.ts';

/** What decides over the environment of a server. */
export interface EnvironmentSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly envMode: 'safe' | 'extend';
}

/** The environment the server gets, as of now. */
export function mcpEnvironment({ env, envMode }: EnvironmentSettings): NodeJS.ProcessEnv {
  return { ...(envMode === 'extend' ? process.env : safeEnvironment()), ...env };
}

/** Of a server that gets the whole environment, or of that what is safe and what is allowed. */
export function allowedEnvironment(
  envAllow: readonly string[] | undefined,
  env: Readonly<Record<string, string>> = {},
): EnvironmentSettings {
  if (envAllow === undefined) return { envMode: 'extend', env };
  return { envMode: 'safe', env: { ...safeEnvironment(envAllow), ...env } };
}
