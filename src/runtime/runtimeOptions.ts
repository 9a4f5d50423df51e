import { alertsFrom, alertsKey } from './alertOptions.ts';
import { type Random, clockKey } from '../policy/clock.ts';
import { hostLogger, loggerKey } from '../policy/options/hostLogger.ts';
import {
  boolean,
  callback,
  choice,
  duration,
  integer,
  type Given,
  section,
  more,
} from '../policy/options/optionKeys.ts';
import { policiesFrom, policiesKeys, type PoliciesOptions } from '../policy/policies.ts';
import { agentProfilesKey, profilesFrom } from '../protocol/agents/profileKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import { retentionKey } from '../policy/retention.ts';
import { toolCallRetryFrom, toolCallRetryKeys, type ToolCallRetryOptions } from '../policy/toolCallRetry.ts';
import { type SessionDefaults, sharedSessionKeys } from '../sessions/sessionOptions.ts';
import { KnownSecrets } from '../redaction/knownSecrets.ts';
import { createFactRedactor, createRedactedLogger } from '../redaction/redactFact.ts';
import { inboxKey } from './inbox.ts';
import { storeFrom, storeKey } from '../store/storeOption.ts';
import { systemClock } from './systemClock.ts';

const rootKeys = {
  /**
   * Restarts of one child within `periodMs` before it is put into quarantine, whatever its own limits are; when all children together were
   * restarted as often again, those that fail again wait longer. At least 0. @defaultValue 30
   */
  intensity: integer({
    min: 0,
    default: 30,
    help: 'Restarts of one child within `periodMs` before it is put into quarantine. When all children together fail again more often than that, they wait longer.',
  }),
  /** Time for which a restart counts against `intensity`, in ms above 0. @defaultValue 10000 */
  periodMs: duration({ default: 10_000, help: 'See `intensity`.' }),
};

/** Limit on restarts of the children of a gateway, all together. */
export interface RootOptions extends Given<typeof rootKeys> {}

/** The options of a gateway. */
export const gatewayKeys = {
  /**
   * SQLite file for final failures, facts and breaker states; `':memory:'` keeps the last ones of this process only. A file that cannot be
   * had is an error of `start()`, unless it is given as `{ path, required: false }`.
   * @defaultValue ':memory:'
   */
  store: more(storeKey, {
    variable: 'UNWEDGE_DB',
    help: "SQLite file of events, circuits and sessions; `':memory:'` keeps nothing.",
  }),
  /** End that a commit survives: that of the process (`NORMAL`) or of the machine (`FULL`). @defaultValue 'NORMAL' */
  synchronous: choice(['NORMAL', 'FULL'], {
    default: 'NORMAL',
    help: 'What a commit survives: the end of the process (`NORMAL`) or of the machine (`FULL`).',
  }),
  /**
   * Has a small process of its own stand by from the first child on, which ends all children with what descends from them should this process be killed
   * (`kill -9`, out of memory). Takes 12 MB. Without it the next start on the same `store` ends them.
   * @defaultValue true
   */
  childGuard: boolean({
    default: true,
    help: 'Whether a process of its own stands by to end the children should this one be killed.',
  }),
  /**
   * Lets commands of the same user reach the gateway while it runs (`unwedge status --tree`, `unwedge restart`), over a Unix socket in `XDG_RUNTIME_DIR` or
   * the directory for temporary files. @defaultValue true, but false for `':memory:'`
   */
  control: boolean({
    usually: "true; false with the store `':memory:'`",
    help: 'Whether commands of the same user reach the running gateway over a Unix socket.',
  }),
  /**
   * Environment that the children of the gateway inherit, beside the `env` of each. `extend`: the whole environment of this process, keys and tokens
   * included. `safe`: HOME, LOGNAME, PATH, SHELL, TERM and USER, on Windows their like, with places of certificates and proxies without a password. It holds
   * for subprocesses, command hooks, alert commands, agents and Codex; the `envMode` of each comes first. An MCP server gets the safe ones unless its own
   * `envMode` is `extend`.
   * @defaultValue 'extend'
   */
  environment: choice(['extend', 'safe'], {
    default: 'extend',
    help: 'What children of a gateway inherit, but for MCP servers: the whole environment, keys and tokens included, or HOME, PATH and their like, certificates and proxies alone (`safe`). The program of `unwedge run` and `unwedge agent` gets all.',
  }),
  /**
   * Age and amount up to which records are kept; `false` keeps everything. Only what is over is deleted: of sessions ended messages and settled calls.
   * @defaultValue 30 days, 1 GB
   */
  retention: retentionKey,
  /** Rules for raising alerts, and where they go beside subscribers; `false`: never. @defaultValue 5 final failures of an integration in 10 min */
  alerts: alertsKey,
  /**
   * Keeps questions to people (approvals, `turn.ask`) in the store until somebody answers them: the code that asks, `unwedge inbox`, or HTTP.
   * A question then waits 15 min where it is given no `overallMs`. @defaultValue false, but true in `unwedge serve`
   */
  inbox: inboxKey,
  /** Limit on restarts of children, all together. @defaultValue 30 restarts in 10 s */
  supervisor: section(rootKeys, { given: {} as RootOptions, default: {}, help: 'Of the root supervisor.' }),
  /** Retries of sessions' tool calls. @defaultValue the preset `toolCall`: 3 attempts in all, after 100 and 500 ms */
  toolCallRetry: section(toolCallRetryKeys, {
    given: {} as ToolCallRetryOptions,
    default: {},
    help: "How sessions' tool calls are tried again; as `gateway.toolCallRetry` of an `openclaw.json`.",
  }),
  /** Presets of one's own, and what wins over the code that declares an integration. @defaultValue the built-in presets */
  policies: section(policiesKeys, {
    given: {} as PoliciesOptions,
    default: {},
    help: 'Policies by name, and what holds for single integrations.',
  }),
  /** Agents beside those that are known, by name: what is read of their command line and their output. @defaultValue {} */
  agentProfiles: agentProfilesKey,
  /** Options that hold for sessions which are not given them themselves. @defaultValue as `SessionOptions` say */
  sessions: section(sharedSessionKeys, {
    given: {} as SessionDefaults,
    default: {},
    help: 'Defaults of sessions; what the code says of one wins.',
  }),
  /** Source of time and timers. @defaultValue the system's */
  clock: more(clockKey, { codeOnly: true }),
  /** A source of chance in [0, 1). @defaultValue Math.random */
  random: callback<Random, { readonly codeOnly: true }>({ codeOnly: true }),
  /**
   * Hears in one line each, without secrets and bounded in number: a circuit that opened (with the cause) or closed, final failures, alerts,
   * errors of hooks, a store that cannot be written, a child in quarantine. `console`, pino's, OpenClaw's, or anything like them.
   * @defaultValue false: silence
   */
  logger: more(loggerKey, { codeOnly: true }),
};

/** Options of a gateway. Each has a default. */
export interface GatewayOptions extends Given<typeof gatewayKeys> {}

/** {@link GatewayOptions}, checked. */
export type CheckedGatewayOptions = ReturnType<typeof checkGatewayOptions>;

/** @throws TypeError or RangeError that names the option and its value. */
export function checkGatewayOptions(options: GatewayOptions) {
  const read = readOptions('', options, gatewayKeys);
  const { clock = systemClock, random = Math.random, logger = false, retention } = read;
  const { path: store, required: storeRequired } = storeFrom(read.store);
  const policies = policiesFrom(read.policies);
  const secrets = new KnownSecrets(process.env);
  const redact = createFactRedactor(secrets);
  return {
    ...read,
    store,
    /** True where a store that cannot be had is an error of the start. */
    storeRequired,
    clock,
    random,
    logger: logger === false ? undefined : createRedactedLogger(hostLogger(logger), redact),
    /** Secrets of the environment, and of what children are given. */
    secrets,
    /** Takes secrets out of what leaves the runtime. */
    redact,
    /** The same for answers to commands of other processes, which may be long. */
    redactAnswer: createFactRedactor(secrets, { objects: Number.POSITIVE_INFINITY }),
    toolCallRetry: toolCallRetryFrom(read.toolCallRetry, policies.presets.toolCall.retry),
    policies,
    agentProfiles: profilesFrom(read.agentProfiles),
    retention: retention === false ? undefined : retention,
    alerts: alertsFrom(read.alerts),
    control: read.control ?? store !== ':memory:',
  };
}
