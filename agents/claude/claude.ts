import { checkLogger } from '../../src/policy/options/face.ts';
import type { PromptFile } from '../../src/actors/prompt/face.ts';
import { type ClaudeLogLine, createClaudeLog } from './claudeLog.ts';
import {
  checkClaudeCall,
  checkClaudeOptions,
  type ClaudeCall,
  type ClaudeCallOptions,
  type ClaudeOptions,
} from './claudeOptions.ts';
import { createGateway } from '../../src/gateway/face.ts';
import { type Failure, type FailureKind, failureKinds, messageOf } from '../../src/policy/failures/face.ts';
import { lastMet } from '../../src/policy/records/face.ts';
import type { IntegrationPolicy } from '../../src/policy/face.ts';
import { boundedClaudeRetries, claudeRetriesName } from '../../src/protocol/face.ts';
import type { RunRequest } from '../../src/integrations/subprocess/face.ts';
import { registryOf, systemClock, withRegistry } from '../../src/runtime/face.ts';
import { lateModule } from '../../src/actors/process/face.ts';

const promptFileModule = lateModule(() => import('./claudePromptFile.ts'));

/**
 * Cause of a failed call of Claude: `rate_limit` for `rate_limit`, `quota` and `overloaded` (the same call may succeed later), `auth` for `auth`, `timeout`
 * for `timeout`, `unknown` for every other kind.
 */
export type ClaudeErrorType = 'rate_limit' | 'auth' | 'timeout' | 'unknown';

/** End of a call of Claude. */
export interface ClaudeResult {
  readonly success: boolean;
  /** The answer; null when there is none. */
  readonly output: string | null;
  /** Error in one plain line; null after success. */
  readonly error: string | null;
  /** Attempts made; 0 when the call was refused before the first. */
  readonly attempts: number;
  /** Time spent waiting between attempts, in seconds. */
  readonly totalWaitTime: number;
  /** Null after success. */
  readonly errorType: ClaudeErrorType | null;
}

/** Claude's command line under supervision: one breaker and one log for all its calls. */
export interface Claude {
  /** Asks once. Never throws or rejects; also a wrong option is a result. */
  invokeClaude(prompt: string, options?: ClaudeCallOptions): Promise<ClaudeResult>;
  /** Ends what is under way, and the gateway where it is its own. Always resolves. */
  stop(): Promise<void>;
}

/** State of a call while it runs. */
interface Invocation {
  readonly prompt: string;
  readonly call: ClaudeCall;
  startedAt: number;
  attemptStartedAt: number;
  retries: number;
  waitedMs: number;
}

/**
 * Makes Claude callable: each call is a run of `claude -p`, tried again by the preset `claudeCli`, judged by its own protocol.
 * @throws TypeError or RangeError that names the option, or the variable of the environment, and its value.
 *
 * @example
 * const claude = createClaude({ model: 'sonnet', retry: { maxRetries: 3 } });
 * const { success, output, errorType } = await claude.invokeClaude('Summarise the last commit');
 */
export function createClaude(options: ClaudeOptions = {}): Claude {
  // Before anything is declared: a wrong option leaves nothing behind.
  const { timeoutMs } = checkClaudeOptions(options, process.env);
  const { clock = systemClock, random, logger, command = 'claude', name = 'claude', cwd } = options;
  const gateway = options.gateway ?? createGateway({ clock, random, logger });
  const integration = gateway.subprocess(name, {
    command,
    args: [...(options.args ?? []), '-p', '--output-format', 'stream-json', '--verbose'],
    cwd,
    // Retries have one owner, also where there is but one attempt: those inside take minutes.
    env: { [claudeRetriesName]: process.env[claudeRetriesName] ?? boundedClaudeRetries, ...options.env },
    agent: 'claude',
    // The limit of this client, which one call may shorten further.
    policy: options.timeout === undefined ? undefined : { limits: { attemptMs: timeoutMs } },
    // Said outright: what a caller's system prompt says is never taken for a placeholder.
    promptBy: 'stdin',
  });
  const defaults = checkClaudeOptions(options, process.env, integration.policy);
  const log =
    options.log === false ? undefined : createClaudeLog(clock, logger === false ? false : checkLogger(logger));
  const running = new Map<string, Invocation>();
  let lastCall = 0;
  let starting: Promise<void> | undefined;
  const stopping = new AbortController();
  const asked = new Set<Promise<unknown>>();

  const note = ({ prompt, call }: Invocation, line: ClaudeLogLine): void => log?.write(call.logDir, prompt, line);
  const since = (at: number): number => seconds(Math.max(0, clock.now() - at));

  const unsubscribe = gateway.on('call.retried', (fact) => {
    const invocation = fact.integration === name ? running.get(fact.label ?? '') : undefined;
    if (invocation === undefined) return;
    const waitMs = fact.delayMs ?? 0;
    note(invocation, {
      attempt: fact.attempt,
      status: 'retry',
      error_type: errorTypes[fact.kind] ?? 'unknown',
      wait_time: seconds(waitMs),
      response_time: since(invocation.attemptStartedAt),
    });
    invocation.retries++;
    invocation.waitedMs += waitMs;
    invocation.attemptStartedAt = clock.now() + waitMs;
  });

  async function ask(prompt: string, call: ClaudeCall): Promise<ClaudeResult> {
    if (options.gateway === undefined) await (starting ??= gateway.start());
    const now = clock.now();
    const invocation: Invocation = { prompt, call, startedAt: now, attemptStartedAt: now, retries: 0, waitedMs: 0 };
    const label = `${name}-${++lastCall}`;
    running.set(label, invocation);
    let file: PromptFile | undefined;
    try {
      const { systemPrompt } = call;
      file = systemPrompt === undefined ? undefined : await fileOf(systemPrompt);
      const outcome = await integration.call(requestOf(prompt, call, file), {
        label,
        signal: call.signal === undefined ? stopping.signal : AbortSignal.any([call.signal, stopping.signal]),
        maxAttempts: call.maxAttempts,
        backoff: call.backoff,
        attemptMs: unlessOff(call.timeoutMs),
        overallMs: unlessOff(overallOf(call, integration.policy)),
      });
      return outcome.ok ? succeeded(invocation, outcome.value.agent?.text ?? '') : failed(invocation, outcome.failure);
    } finally {
      running.delete(label);
      await Promise.all([file?.remove(), log?.flush()]);
    }
  }

  function succeeded(invocation: Invocation, output: string): ClaudeResult {
    const attempts = invocation.retries + 1;
    const response_time = since(invocation.attemptStartedAt);
    note(invocation, { attempt: attempts, status: 'success', error_type: null, wait_time: 0, response_time });
    const totalWaitTime = seconds(invocation.waitedMs);
    return { success: true, output, error: null, attempts, totalWaitTime, errorType: null };
  }

  function failed(invocation: Invocation, failure: Failure): ClaudeResult {
    const { attempts, message } = failure;
    const { kind } = lastMet(failure);
    const errorType = errorTypes[kind] ?? 'unknown';
    const totalWaitTime = seconds(invocation.waitedMs);
    const response_time = since(invocation.attemptStartedAt);
    note(invocation, { attempt: attempts, status: 'error', error_type: errorType, wait_time: 0, response_time });
    // It would have been tried again, had there been an attempt, a wait or a budget left.
    if (failureKinds[kind].retried || (kind === 'unknown' && failure.shouldRetry !== false)) {
      const whole = { wait_time: totalWaitTime, response_time: since(invocation.startedAt) };
      note(invocation, { attempt: attempts, status: 'exhausted', error_type: errorType, ...whole });
    }
    const error = errorType === 'rate_limit' ? `Rate limit - retry later: ${message}` : message;
    return { success: false, output: null, error, attempts, totalWaitTime, errorType };
  }

  const claude: Claude = {
    async invokeClaude(prompt, callOptions = {}) {
      try {
        if (typeof prompt !== 'string') throw new TypeError('Expected `prompt` to be a string');
        const asking = ask(prompt, checkClaudeCall(callOptions, defaults));
        asked.add(asking);
        try {
          return await asking;
        } finally {
          asked.delete(asking);
        }
      } catch (error) {
        return refused(error);
      }
    },
    async stop() {
      unsubscribe();
      stopping.abort(new Error('Claude is stopped'));
      if (options.gateway === undefined) await gateway.stop();
      await Promise.allSettled(asked);
      await log?.flush();
    },
  };
  const registry = registryOf(gateway);
  return registry === undefined ? claude : withRegistry(registry, claude);
}

/**
 * Asks Claude once, with a supervision of its own. For several questions share one with {@link createClaude}. Never throws or rejects.
 *
 * @example
 * const { success, output } = await invokeClaude('Summarise the last commit', { timeout: 60 });
 */
export async function invokeClaude(
  prompt: string,
  options: ClaudeOptions & ClaudeCallOptions = {},
): Promise<ClaudeResult> {
  try {
    const { signal, ...rest } = options;
    const claude = createClaude(rest);
    const result = await claude.invokeClaude(prompt, { signal });
    await claude.stop();
    return result;
  } catch (error) {
    return refused(error);
  }
}

/** Loaded now: most calls have no system prompt. */
async function fileOf(systemPrompt: string): Promise<PromptFile | undefined> {
  return (await promptFileModule()).fileForLong(systemPrompt);
}

/** Room for every attempt and wait that was asked for; those of the preset take its 30 min. */
function overallOf({ maxAttempts, timeoutMs }: ClaudeCall, { limits, retry }: IntegrationPolicy): number {
  return Math.max(limits.overallMs, maxAttempts * timeoutMs + retry.maxTotalWaitMs);
}

/** A limit that is switched off is so by the policy: a call cannot be given one. */
const unlessOff = (ms: number): number | undefined => (Number.isFinite(ms) ? ms : undefined);

function requestOf(prompt: string, call: ClaudeCall, file: PromptFile | undefined): RunRequest {
  const settings = JSON.stringify({ env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(call.maxTokens) } });
  const args = ['--settings', settings];
  if (call.model !== undefined) args.push(`--model=${call.model}`);
  // In one word with its option: a text that begins with a dash is no option.
  if (file !== undefined) args.push(`--system-prompt-file=${file.path}`);
  else if (call.systemPrompt !== undefined) args.push(`--system-prompt=${call.systemPrompt}`);
  return { args, prompt };
}

/** The kinds that are not `unknown`. */
const errorTypes: { readonly [K in FailureKind]?: ClaudeErrorType } = {
  rate_limit: 'rate_limit',
  quota: 'rate_limit',
  overloaded: 'rate_limit',
  auth: 'auth',
  timeout: 'timeout',
};

function refused(error: unknown): ClaudeResult {
  const message = messageOf(error);
  return { success: false, output: null, error: message, attempts: 0, totalWaitTime: 0, errorType: 'unknown' };
}

/** To the millisecond. */
const seconds = (ms: number): number => Math.round(ms) / 1000;
