import { type AlertOptions, type CheckedAlerts, checkAlerts } from './alertOptions.ts';
import type { Clock, Random } from './policy/clock.ts';
import { checkLogger, type HostLogger } from './policy/hostLogger.ts';
import type { Logger } from './policy/logger.ts';
import { checkBoolean, checkDuration, checkFunction, checkInteger, checkKeys, checkOneOf } from './policy/options.ts';
import { checkPolicies, type Policies, type PoliciesOptions } from './policy/policies.ts';
import { checkRetention, type Retention, type RetentionOptions } from './policy/retention.ts';
import { checkToolCallRetry, type ToolCallRetry, type ToolCallRetryOptions } from './policy/toolCallRetry.ts';
import { checkSessionDefaults, type SessionDefaults } from './sessions/sessionDefaults.ts';
import { KnownSecrets } from './store/knownSecrets.ts';
import { createFactRedactor, type FactRedactor } from './store/redactFact.ts';
import { createRedactedLogger } from './store/redactLogger.ts';
import { checkStore, type StoreLocation } from './store/storeOption.ts';
import { systemClock } from './systemClock.ts';

export interface GatewayOptions {
  /**
   * SQLite file for final failures, facts and breaker states; `':memory:'` keeps the last ones of this process only. A file that cannot be
   * had is an error of `start()`, unless it is given as `{ path, required: false }`.
   * @defaultValue ':memory:'
   */
  readonly store?: string | StoreLocation | undefined;
  /**
   * How long records are kept, and how much of them; `false` keeps everything. Only what is over is deleted: of sessions ended messages and
   * settled calls. @defaultValue 30 days, 1 GB
   */
  readonly retention?: RetentionOptions | false | undefined;
  /** When alerts are raised, and where they go beside subscribers; `false`: never. @defaultValue 5 final failures of an integration in 10 min */
  readonly alerts?: AlertOptions | false | undefined;
  /** What a commit survives: the end of the process (`NORMAL`) or of the machine (`FULL`). @defaultValue 'NORMAL' */
  readonly synchronous?: 'NORMAL' | 'FULL' | undefined;
  /**
   * Whether a small process of its own stands by from the first child on, which ends all children with what descends from them should
   * this process be killed (`kill -9`, out of memory). Takes 12 MB. Without it the next start on the same `store` ends them.
   * @defaultValue true
   */
  readonly childGuard?: boolean | undefined;
  /** @defaultValue the system's */
  readonly clock?: Clock | undefined;
  /** A source of chance in [0, 1). @defaultValue Math.random */
  readonly random?: Random | undefined;
  /**
   * Hears in one line each, without secrets and bounded in number: a circuit that opened (with the cause) or closed, final failures, alerts,
   * errors of hooks, a store that cannot be written, a child in quarantine. `console`, pino's, OpenClaw's, or anything like them.
   * @defaultValue false: silence
   */
  readonly logger?: HostLogger | false | undefined;
  readonly supervisor?: RootOptions | undefined;
  /**
   * What the children of the gateway inherit, beside the `env` that each is given: the whole environment of this process, keys and tokens
   * included (`extend`), or HOME, LOGNAME, PATH, SHELL, TERM and USER, on Windows their like (`safe`). It holds for subprocesses, command
   * hooks, alert commands, agents and Codex; each may say otherwise by its `envMode`. MCP servers get the safe ones unless their own
   * `envMode` is `extend`. @defaultValue 'extend'
   */
  readonly environment?: 'extend' | 'safe' | undefined;
  /** How sessions' tool calls are tried again. @defaultValue the preset `toolCall`: 3 attempts in all, after 100 and 500 ms */
  readonly toolCallRetry?: ToolCallRetryOptions | undefined;
  /** Presets of one's own, and what wins over the code that declares an integration. @defaultValue the built-in presets */
  readonly policies?: PoliciesOptions | undefined;
  /** What holds for sessions where they are not given it themselves. @defaultValue as `SessionOptions` say */
  readonly sessions?: SessionDefaults | undefined;
  /**
   * Whether commands of the same user can reach the gateway while it runs (`unwedge status --tree`, `unwedge restart`), over a
   * Unix socket in `XDG_RUNTIME_DIR` or the directory for temporary files. @defaultValue true, but false for `':memory:'`
   */
  readonly control?: boolean | undefined;
}

export interface RootOptions {
  /** Restarts of all children together within `periodMs` before one is put into quarantine for it. @defaultValue 30 */
  readonly intensity?: number | undefined;
  /** In ms. @defaultValue 10000 */
  readonly periodMs?: number | undefined;
}

export interface CheckedGatewayOptions {
  readonly store: string;
  /** Whether a store that cannot be had is an error of the start. */
  readonly storeRequired: boolean;
  readonly synchronous: 'NORMAL' | 'FULL';
  readonly childGuard: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger | undefined;
  /** Those of the environment, and of what children are given. */
  readonly secrets: KnownSecrets;
  readonly environment: 'extend' | 'safe';
  /** Takes secrets out of what leaves the runtime. */
  readonly redact: FactRedactor;
  /** The same for answers to commands of other processes, which may be long. */
  readonly redactAnswer: FactRedactor;
  readonly supervisor: { readonly intensity: number; readonly periodMs: number };
  readonly control: boolean;
  readonly toolCallRetry: ToolCallRetry;
  readonly policies: Policies;
  readonly sessions: SessionDefaults;
  readonly retention: Retention | undefined;
  readonly alerts: CheckedAlerts | undefined;
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkGatewayOptions(options: GatewayOptions): CheckedGatewayOptions {
  checkKeys('options', options, [
    'store',
    'synchronous',
    'childGuard',
    'clock',
    'random',
    'logger',
    'supervisor',
    'environment',
    'control',
    'toolCallRetry',
    'policies',
    'sessions',
    'retention',
    'alerts',
  ]);
  const { supervisor = {}, clock = systemClock, random = Math.random } = options;
  checkKeys('supervisor', supervisor, ['intensity', 'periodMs']);
  checkFunction('random', random);
  for (const method of ['now', 'wallNow', 'setTimeout', 'clearTimeout', 'nextTurn'] as const) {
    checkFunction(`clock.${method}`, (clock as Partial<Clock> | null)?.[method]);
  }
  const logger = checkLogger(options.logger);
  const store = checkStore('store', options.store ?? ':memory:');
  const policies = checkPolicies(options.policies);
  const secrets = new KnownSecrets(process.env);
  const redact = createFactRedactor(secrets);
  return {
    store: store.path,
    storeRequired: store.required,
    synchronous: checkOneOf('synchronous', options.synchronous ?? 'NORMAL', ['NORMAL', 'FULL']),
    childGuard: checkBoolean('childGuard', options.childGuard ?? true),
    clock,
    random,
    logger: logger === undefined ? undefined : createRedactedLogger(logger, redact),
    secrets,
    environment: checkOneOf('environment', options.environment ?? 'extend', ['extend', 'safe']),
    redact,
    redactAnswer: createFactRedactor(secrets, Number.POSITIVE_INFINITY),
    supervisor: {
      intensity: checkInteger('supervisor.intensity', supervisor.intensity ?? 30, 0),
      periodMs: checkDuration('supervisor.periodMs', supervisor.periodMs ?? 10_000),
    },
    toolCallRetry: checkToolCallRetry(options.toolCallRetry, policies.presets.toolCall.retry),
    policies,
    sessions: checkSessionDefaults(options.sessions),
    retention: checkRetention('retention', options.retention),
    alerts: checkAlerts(options.alerts),
    control: checkBoolean('control', options.control ?? store.path !== ':memory:'),
  };
}
