export type { ConfigOptions, LoadedConfig, UnwedgeConfig } from './configTypes.ts';
export type { LoadConfigOptions } from './readConfig.ts';
export { defineConfig, loadConfig } from './loadConfig.ts';
export { ConfigError, type ConfigProblem, type ConfigSource } from './problems.ts';
export { type OpenClawOptions, readOpenClawConfig } from './openclawConfig.ts';
export { readPattern } from './readPattern.ts';
