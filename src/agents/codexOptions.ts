import type { McpServerSettings } from '../actors/mcpServerOptions.ts';
import type { Effect } from '../policy/effects.ts';
import { effects } from '../policy/effects.ts';
import {
  checkBoolean,
  checkDuration,
  checkFunction,
  checkInteger,
  checkKeys,
  checkName,
  checkObject,
  checkOneOf,
  checkText,
  checkTexts,
} from '../policy/options.ts';
import type { PolicyInput } from '../policy/presets.ts';
import type { CodexQuestion, CodexReply } from '../protocol/codex/questions.ts';
import { maxMessageBytes } from '../protocol/codex/requests.ts';

/** Decides on a question of Codex: a person or a policy. Throwing, an answer that cannot be read and silence decline. */
export type CodexApprover = (
  question: CodexQuestion,
  context: { readonly signal: AbortSignal },
) => CodexReply | 'accept' | 'decline' | PromiseLike<CodexReply | 'accept' | 'decline'>;

/** One line over the wire, for debugging; what was said and done is left out, secrets too. */
export interface CodexWireLine {
  readonly direction: 'sent' | 'received';
  readonly line: string;
}

/** How Codex's app-server is run and spoken to. */
export interface CodexOptions {
  /** Path, or name to look up on the PATH. Never goes through a shell. @defaultValue 'codex' */
  readonly command?: string | undefined;
  /** @defaultValue ['app-server'] */
  readonly args?: readonly string[] | undefined;
  /**
   * Settings of Codex, each given as `-c name=value` behind `args`. Its own retries are bounded here, for a provider of one's own:
   * `{'model_providers.NAME.request_max_retries': 1, 'model_providers.NAME.stream_max_retries': 1}`. @defaultValue {}
   */
  readonly config?: Readonly<Record<string, string | number | boolean | readonly string[]>> | undefined;
  /**
   * Variables set for the app-server, beside what it inherits: by default the whole environment of the runtime, keys and tokens included.
   * Their values are kept out of messages. @defaultValue {}
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * What `env` adds to: the whole environment of the runtime, or HOME, PATH and their like alone.
   * @defaultValue the gateway's `environment`, which is 'extend' unless it is set
   */
  readonly envMode?: 'safe' | 'extend' | undefined;
  /** @defaultValue the working directory of the runtime */
  readonly cwd?: string | undefined;
  /** Limit on the start up to the end of the handshake, in ms above 0. @defaultValue 10000 */
  readonly handshakeMs?: number | undefined;
  /** How long turns may take to end before the app-server is told to, and that once its stdin is closed, and again after SIGTERM; each in ms above 0. @defaultValue 2000 */
  readonly closeMs?: number | undefined;
  /** How long Codex may take to let go of a turn that was given up, in ms above 0; then the app-server is killed. @defaultValue 5000 */
  readonly interruptMs?: number | undefined;
  /** Longest message taken from the app-server, in bytes, at least 1024. @defaultValue 104857600 (100 MB) */
  readonly maxMessageBytes?: number | undefined;
  /** Answers what Codex asks. @defaultValue everything is declined */
  readonly approve?: CodexApprover | undefined;
  /** How long a question waits for its answer, in ms above 0; then it is declined. @defaultValue 30000 */
  readonly approvalMs?: number | undefined;
  /** @defaultValue preset `codex`: one attempt; 300 s without progress and 30 min in all for a turn */
  readonly policy?: PolicyInput | undefined;
  /** What its turns may do to the world, where a turn does not say. @defaultValue unspecified */
  readonly effect?: Effect | undefined;
  /** Whether to ask for what the protocol calls experimental. @defaultValue false */
  readonly experimentalApi?: boolean | undefined;
  /** Hears every line that is sent and received. What it throws is ignored. */
  readonly tap?: ((line: CodexWireLine) => void) | undefined;
}

/** {@link CodexOptions}, checked, with the defaults filled in. */
export interface CodexSettings extends Pick<CodexOptions, 'approve' | 'policy' | 'effect' | 'tap'> {
  /** As the process is started. */
  readonly process: McpServerSettings;
  readonly interruptMs: number;
  readonly approvalMs: number;
  readonly experimentalApi: boolean;
}

const keys: readonly (keyof CodexOptions)[] = [
  'command',
  'args',
  'config',
  'env',
  'envMode',
  'cwd',
  'handshakeMs',
  'closeMs',
  'interruptMs',
  'maxMessageBytes',
  'approve',
  'approvalMs',
  'policy',
  'effect',
  'experimentalApi',
  'tap',
];

/**
 * @param environment - what it inherits where it does not say.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function checkCodexOptions(
  name: string,
  options: CodexOptions,
  environment: 'extend' | 'safe' = 'extend',
): CodexSettings {
  checkKeys(name, options, keys);
  const duration = (key: 'handshakeMs' | 'closeMs' | 'interruptMs' | 'approvalMs', usual: number): number =>
    checkDuration(`${name}.${key}`, options[key] ?? usual);
  const { approve, effect, tap, policy } = options;
  if (approve !== undefined) checkFunction(`${name}.approve`, approve);
  if (tap !== undefined) checkFunction(`${name}.tap`, tap);
  if (effect !== undefined) checkOneOf(`${name}.effect`, effect, effects);
  const args = checkTexts(`${name}.args`, options.args ?? ['app-server']);
  return {
    process: {
      command: checkName(`${name}.command`, options.command ?? 'codex'),
      args: [...args, ...configArgs(`${name}.config`, options.config ?? {})],
      env: checkEnvironment(`${name}.env`, options.env ?? {}),
      envMode: checkOneOf(`${name}.envMode`, options.envMode ?? environment, ['safe', 'extend']),
      cwd: options.cwd === undefined ? undefined : checkName(`${name}.cwd`, options.cwd),
      handshakeMs: duration('handshakeMs', 10_000),
      closeMs: duration('closeMs', 2000),
      pingMs: 5000,
      maxMessageBytes: checkInteger(`${name}.maxMessageBytes`, options.maxMessageBytes ?? maxMessageBytes, 1024),
    },
    interruptMs: duration('interruptMs', 5000),
    approvalMs: duration('approvalMs', 30_000),
    experimentalApi: checkBoolean(`${name}.experimentalApi`, options.experimentalApi ?? false),
    approve,
    effect,
    policy,
    tap,
  };
}

function checkEnvironment(name: string, env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  checkObject(name, env);
  for (const [key, value] of Object.entries(env)) checkText(`${name}.${key}`, value);
  return { ...env };
}

/** Texts, numbers, booleans and lists of texts are written in TOML as they are in JSON. */
function configArgs(name: string, config: NonNullable<CodexOptions['config']>): readonly string[] {
  checkObject(name, config);
  return Object.entries(config).flatMap(([key, value]) => {
    if (Array.isArray(value)) checkTexts(`${name}.${key}`, value);
    else if (typeof value === 'number') checkFinite(`${name}.${key}`, value);
    else if (typeof value !== 'boolean') checkText(`${name}.${key}`, value);
    return ['-c', `${key}=${JSON.stringify(value)}`];
  });
}

function checkFinite(name: string, value: number): void {
  if (!Number.isFinite(value)) throw new RangeError(`Expected \`${name}\` to be a finite number, got ${value}`);
}
