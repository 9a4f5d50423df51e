import type { LoadedConfig, UnwedgeConfig } from './configTypes.ts';
import type { LoadConfigOptions } from './readConfig.ts';

/**
 * Loads the configuration. Sources, the later ones winning, key by key: built-in defaults, `openclaw.json`, the configuration file, the
 * environment (`UNWEDGE_…`), overrides.
 * @throws {@link ConfigError} that holds everything that is wrong; TypeError or RangeError for a wrong option of its own.
 *
 * @example
 * const { options } = await loadConfig();
 * const gateway = createGateway({ ...options, logger: console });
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  // Loaded only now: a program that configures in code loads no schema.
  return (await import('./readConfig.ts')).readConfig(options);
}

/**
 * Types a configuration file that is a module; gives back what it gets.
 *
 * @example
 * export default defineConfig({ store: 'gateway.sqlite', policies: { integrations: { kb: { attemptMs: '20s' } } } });
 */
export function defineConfig(config: UnwedgeConfig): UnwedgeConfig {
  return config;
}
