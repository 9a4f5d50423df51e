import type { GatewayOptions } from '../gatewayOptions.ts';
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
  | 'sessions'
>;

/** Options as they are written in a configuration: durations may be text. */
type Written<Key, T> = T extends readonly (infer Item)[]
  ? readonly Written<Key, Item>[]
  : T extends object
    ? { readonly [Inner in keyof T]: Written<Inner, T[Inner]> }
    : Key extends `${string}Ms`
      ? T extends number
        ? number | string
        : T
      : T;

/** What a configuration file says. Durations are ms, or text such as `30s`; `"infinity"` switches a limit off. */
export type UnwedgeConfig = Written<'', ConfigOptions> & { readonly $schema?: string | undefined };

export interface LoadConfigOptions {
  /** Where a configuration file is looked for. @defaultValue the working directory */
  readonly cwd?: string | undefined;
  /** The configuration file; `false`: none is read. @defaultValue `UNWEDGE_CONFIG`, else `unwedge.config.{mjs,js,json}` in `cwd` */
  readonly file?: string | false | undefined;
  /** @defaultValue that of the process */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Whether `gateway.toolCallRetry` of an `openclaw.json` is read, or of which; one that is not there says nothing.
   * `true`: `~/.openclaw/openclaw.json`. @defaultValue false
   */
  readonly openclaw?: boolean | string | undefined;
  /** Wins over every source: what a command line says, for instance. */
  readonly overrides?: UnwedgeConfig | undefined;
}

export interface LoadedConfig {
  /** To be spread into the options of `createGateway`; durations in ms. */
  readonly options: ConfigOptions;
  /** Where each value that was set comes from, by its path, such as `alerts.failures`. */
  readonly origins: Readonly<Record<string, ConfigSource>>;
  /** The files that were read. */
  readonly files: readonly string[];
  /** What is odd but no error: variables of the environment that nothing reads. */
  readonly warnings: readonly string[];
}
