import type { HookEvent, HookHandler, RegisteredHook } from './actors/userHooks.ts';
import { commandHookHandler, type HookCommand } from './commandHook.ts';
import { checkSubprocess } from './machines/subprocessInput.ts';
import { checkDuration, checkFunction, checkKeys, checkName, checkOneOf } from './policy/options.ts';
import type { IntegrationPolicy } from './policy/policy.ts';
import { type PolicyInput, presets, resolvePolicy } from './policy/presets.ts';
import { hookLimitMs } from './protocol/hookEvents.ts';
import type { Runtime } from './runtime.ts';
import { superviseIntegration } from './superviseIntegration.ts';

export interface HookOptions {
  /** @defaultValue the event's name and a number */
  readonly name?: string | undefined;
  /** What a hook that fails means for the main operation: it goes on, or is declined. @defaultValue 'continue' */
  readonly onFailure?: 'continue' | 'block' | undefined;
  /** Limit on the hook, in ms, above 0. @defaultValue 10 s; 900 ms for a command at `SessionEnd`, whose host waits 1.5 s in all */
  readonly timeoutMs?: number | undefined;
  /** @defaultValue preset `hook`: one attempt */
  readonly policy?: PolicyInput | undefined;
}

/** A hook whose options have been checked. */
export interface CheckedHook {
  readonly name: string;
  readonly event: string;
  readonly handler: HookHandler | HookCommand;
  readonly onFailure: 'continue' | 'block';
  readonly policy: IntegrationPolicy;
}

const optionNames = ['name', 'onFailure', 'timeoutMs', 'policy'];
const commandNames = ['command', 'args', 'cwd', 'env', 'envMode', 'envAllow', 'graceMs'];

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkHook(
  event: string,
  handler: HookHandler | HookCommand,
  options: HookOptions,
  number: number,
): CheckedHook {
  checkName('event', event);
  const isCommand = typeof handler === 'object' && handler !== null;
  if (isCommand) checkSubprocess(checkedKeys(handler), 'hook.');
  else checkFunction('handler', handler);
  checkKeys('options', options, optionNames);
  const name = checkName('options.name', options.name ?? `${event}-${number}`);
  const onFailure = checkOneOf('options.onFailure', options.onFailure ?? 'continue', ['continue', 'block']);
  const { timeoutMs } = options;
  if (timeoutMs !== undefined) checkDuration('options.timeoutMs', timeoutMs);
  const limitMs = timeoutMs ?? Math.min(presets.hook.limits.attemptMs, isCommand ? hookLimitMs(event) : Infinity);
  const limits = { idleMs: limitMs, attemptMs: limitMs, overallMs: limitMs };
  return { name, event, handler, onFailure, policy: resolvePolicy(name, options.policy, { ...presets.hook, limits }) };
}

function checkedKeys(command: HookCommand): HookCommand {
  checkKeys('hook', command, commandNames);
  return command;
}

/** Puts a hook behind an integration of its own: with its limit, its breaker and its record. */
export function superviseHook(runtime: Runtime, hook: CheckedHook): RegisteredHook {
  const { name, event, handler, onFailure } = hook;
  const command = typeof handler === 'function' ? undefined : commandHookHandler(runtime, name, handler);
  // Ending a command takes up to its grace; only then is it one that would not end.
  const policy = command === undefined ? hook.policy : { ...hook.policy, abortGraceMs: command.endsWithinMs };
  const path = superviseIntegration<HookEvent, unknown>(runtime, {
    name: `hook:${name}`,
    policy,
    operation: command?.handler ?? (handler as HookHandler),
  });
  const settings = {
    ...policy.limits,
    retry: policy.retry,
    effect: undefined,
    label: undefined,
    session: undefined,
    signal: undefined,
    fallback: undefined,
  };
  return { name, event, onFailure, path, settings };
}
