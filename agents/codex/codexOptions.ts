import { type Logger, programForm } from '../../src/policy/text/face.ts';
import { type IntegrationPolicy, effects, policyKey } from '../../src/policy/face.ts';
import type { Runtime } from '../../src/runtime/face.ts';
import type { McpServerSettings } from '../../src/actors/mcp/face.ts';
import {
  type Given,
  boolean,
  byName,
  callback,
  choice,
  duration,
  either,
  integer,
  list,
  number,
  readOptions,
  text,
} from '../../src/policy/options/face.ts';
import type { CodexQuestion, CodexReply } from './protocol/questions.ts';
import { maxMessageBytes } from './protocol/requests.ts';

/** Decides on a question of Codex: a person or a policy. Throwing, an answer that cannot be read and silence decline. */
export type CodexApprover = (
  question: CodexQuestion,
  context: { readonly signal: AbortSignal },
) => CodexReply | 'accept' | 'decline' | PromiseLike<CodexReply | 'accept' | 'decline'>;

/** Line over the wire, for debugging; all that was said and done is left out, secrets too. */
export interface CodexWireLine {
  readonly direction: 'sent' | 'received';
  readonly line: string;
}

/** {@link CodexOptions}, checked, with the defaults filled in. */
export interface CodexSettings extends Pick<CodexOptions, 'approve' | 'policy' | 'effect' | 'tap'> {
  /** As the process is started. */
  readonly process: McpServerSettings;
  readonly interruptMs: number;
  readonly approvalMs?: number | undefined;
  readonly experimentalApi: boolean;
}

const texts = 'an array of strings';

const configValue = either<string | number | boolean | readonly string[]>(
  [
    text({ empty: true }),
    list(text({ empty: true }), { expected: texts }),
    number({ min: -Number.MAX_VALUE }),
    boolean(),
  ],
  (value) => (Array.isArray(value) ? 1 : typeof value === 'number' ? 2 : typeof value === 'boolean' ? 3 : 0),
  'a string, a number, true or false, or an array of strings',
);

/** The options of Codex. */
export const codexKeys = {
  /** Path, or name to look up on the PATH. Never goes through a shell. @defaultValue 'codex' */
  command: text({ default: 'codex', ...programForm }),
  /** The arguments of the command. @defaultValue ['app-server'] */
  args: list(text({ empty: true }), { expected: texts, default: ['app-server'] }),
  /**
   * Settings of Codex, each given as `-c name=value` behind `args`. Its own retries are bounded here, for a provider of one's own:
   * `{'model_providers.NAME.request_max_retries': 1, 'model_providers.NAME.stream_max_retries': 1}`. @defaultValue {}
   */
  config: byName(configValue, {
    given: {} as Readonly<Record<string, string | number | boolean | readonly string[]>>,
    default: {},
  }),
  /**
   * Variables set for the app-server, beside what it inherits: by default the whole environment of the runtime, keys and tokens included.
   * Their values are kept out of messages. @defaultValue {}
   */
  env: byName(text({ empty: true, secret: true }), { expected: 'an object of strings', default: {} }),
  /**
   * Base that `env` adds to: the whole environment of the runtime, or HOME, PATH and their like, certificates and proxies alone.
   * @defaultValue the gateway's `environment`, which is 'extend' unless it is set
   */
  envMode: choice(['safe', 'extend']),
  /** Directory in which the app-server is started. @defaultValue the working directory of the runtime */
  cwd: text(),
  /** Limit on the start up to the end of the handshake, in ms above 0. @defaultValue 10000 */
  handshakeMs: duration({ default: 10_000 }),
  /**
   * Time that turns may take to end before the app-server is told to, and that once its stdin is closed, and again after SIGTERM; each in ms above 0.
   * @defaultValue 2000
   */
  closeMs: duration({ default: 2000 }),
  /** Time in ms above 0 that Codex may take to let go of a turn that was given up; then the app-server is killed. @defaultValue 5000 */
  interruptMs: duration({ default: 5000 }),
  /** Longest message taken from the app-server, in bytes, at least 1024. @defaultValue 104857600 (100 MB) */
  maxMessageBytes: integer({ min: 1024, default: maxMessageBytes, unit: 'bytes' }),
  /** Answers what Codex asks. @defaultValue everything is declined */
  approve: callback<CodexApprover>(),
  /** Time in ms above 0 that a question waits for its answer; then it is declined. @defaultValue 30000, or that of the inbox where one is on */
  approvalMs: duration(),
  /** The limits, retries and circuit breaker of its requests and turns. @defaultValue preset `codex`: one attempt; 300 s without progress and 30 min in all for a turn */
  policy: policyKey,
  /** Effect that its turns may have on the world, where a turn does not say. @defaultValue unspecified */
  effect: choice(effects),
  /**
   * Asks for all that the protocol calls experimental; where processes do not tell their environment (not Linux), the commands of a turn that is given up are
   * ended by it. @defaultValue false
   */
  experimentalApi: boolean({ default: false }),
  /** Hears every line that is sent and received. What it throws is ignored. */
  tap: callback<(line: CodexWireLine) => void>(),
};

/** Options to run Codex's app-server and speak to it. */
export interface CodexOptions extends Given<typeof codexKeys> {}

/**
 * @param environment - what it inherits where it does not say.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
function checkCodexOptions(
  name: string,
  options: CodexOptions,
  environment: 'extend' | 'safe' = 'extend',
): CodexSettings {
  const {
    command,
    args,
    config,
    env,
    envMode = environment,
    cwd,
    handshakeMs,
    closeMs,
    maxMessageBytes,
    ...own
  } = readOptions(name, options, codexKeys);
  return {
    ...own,
    process: {
      command,
      args: [...args, ...configArgs(config)],
      env,
      envMode,
      cwd,
      handshakeMs,
      closeMs,
      pingMs: 5000,
      maxMessageBytes,
    },
  };
}

/** Texts, numbers, booleans and lists of texts are written in TOML as they are in JSON. */
function configArgs(config: NonNullable<CodexOptions['config']>): readonly string[] {
  return Object.entries(config).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]);
}

/** Scope that all parts of one Codex share: its processes, its calls, its threads. */
export interface CodexScope {
  readonly runtime: Runtime;
  /** Name of the integration. */
  readonly name: string;
  readonly settings: CodexSettings;
  readonly policy: IntegrationPolicy;
  /** Logger of its diagnostics. */
  readonly logger: Logger | undefined;
}

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function codexScope(
  runtime: Runtime,
  name: string,
  options: CodexOptions,
  logger: Logger | undefined,
): CodexScope {
  const settings = checkCodexOptions(name, options, runtime.environment);
  const base = runtime.policies.policyOf(name, settings.policy, 'codex');
  // Letting go of a turn takes up to its limit, ending its commands up to theirs; only then is it one that would not end.
  const policy = { ...base, abortGraceMs: Math.max(base.abortGraceMs, settings.interruptMs + 5000) };
  return { runtime, name, settings, policy, logger };
}
