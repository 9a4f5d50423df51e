import type { GatewayOptions } from '../runtime/runtimeOptions.ts';
import type { ConfigSource } from './problems.ts';

/** The options of a gateway that a configuration may hold. */
export interface ConfigOptions extends Pick<GatewayOptions, ConfigName> {
  /** SQLite file, or `':memory:'`; one that cannot be had is an error of the gateway's start. */
  readonly store?: string | undefined;
}

type ConfigName = Extract<
  keyof GatewayOptions,
  | 'synchronous'
  | 'childGuard'
  | 'control'
  | 'environment'
  | 'retention'
  | 'alerts'
  | 'supervisor'
  | 'toolCallRetry'
  | 'policies'
  | 'agentProfiles'
  | 'sessions'
  | 'inbox'
>;

/** Content of a configuration file. Durations are ms, or text such as `30s`; `"infinity"` switches a limit off. */
export interface UnwedgeConfig extends ConfigOptions {
  /** Place of the JSON schema, for editors. */
  readonly $schema?: string | undefined;
}

/** Sum of all that the sources say. */
export interface LoadedConfig {
  /** To be spread into the options of `createGateway`; durations in ms. */
  readonly options: ConfigOptions;
  /** Source of each value that was set, by its path, such as `alerts.failures`. */
  readonly origins: Readonly<Record<string, ConfigSource>>;
  /** The files that were read. */
  readonly files: readonly string[];
  /** Oddities that are no error: variables of the environment that nothing reads. */
  readonly warnings: readonly string[];
}
