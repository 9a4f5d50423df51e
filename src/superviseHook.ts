import type { HookEvent, HookHandler, RegisteredHook } from './actors/userHooks.ts';
import type { HookCommand } from './commandHook.ts';
import { checkSubprocess } from './machines/subprocessInput.ts';
import { checkDuration, checkFunction, checkKeys, checkName, checkOneOf } from './policy/options.ts';
import type { Policies } from './policy/policies.ts';
import type { IntegrationPolicy, Limits } from './policy/policy.ts';
import type { PolicyInput } from './policy/presets.ts';
import { hookLimitMs } from './protocol/hookEvents.ts';
import type { Runtime } from './runtime.ts';
import { superviseIntegration } from './superviseIntegration.ts';

export interface HookOptions {
  /** @defaultValue the event's name and a number */
  readonly name?: string | undefined;
  /** What a hook that fails means for the main operation: it goes on, or is declined. @defaultValue 'continue' */
  readonly onFailure?: 'continue' | 'block' | undefined;
  /** Limit on the hook, in ms, above 0. @defaultValue the limits of the preset `hook`, 10 s each; 1.2 s for a command at `SessionEnd`, whose host waits 1.5 s in all */
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
  policies: Policies,
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
  const usual = policies.presets.hook;
  const most = isCommand ? hookLimitMs(event) : Number.POSITIVE_INFINITY;
  const limits = timeoutMs === undefined ? capped(usual.limits, most) : all(timeoutMs);
  const integration = `hook:${name}`;
  policies.refuseAbout(integration, 'a hook', ['effect', 'tools', 'whenAlive']);
  const policy = policies.policyOf(name, options.policy, { ...usual, limits }, integration);
  return { name, event, handler, onFailure, policy };
}

const all = (ms: number): Limits => ({ idleMs: ms, attemptMs: ms, overallMs: ms });

function capped({ idleMs, attemptMs, overallMs }: Limits, most: number): Limits {
  const cap = (ms: number): number => Math.min(ms, most);
  return { idleMs: cap(idleMs), attemptMs: cap(attemptMs), overallMs: cap(overallMs) };
}

function checkedKeys(command: HookCommand): HookCommand {
  checkKeys('hook', command, commandNames);
  return command;
}

/** Puts a hook behind an integration of its own: with its limit, its breaker and its record. */
export function superviseHook(runtime: Runtime, hook: CheckedHook): RegisteredHook {
  const { name, event, handler, onFailure } = hook;
  const command = typeof handler === 'function' ? undefined : commandHandler(runtime, name, handler);
  // Ending a command takes up to its grace; only then is it one that would not end.
  const policy = command === undefined ? hook.policy : { ...hook.policy, abortGraceMs: command.endsWithinMs };
  const path = superviseIntegration<HookEvent, unknown>(runtime, {
    name: `hook:${name}`,
    about: { type: 'hook' },
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

/** How long a hook may take to end on SIGTERM, in ms, where nothing else is said: its host waits meanwhile at its own end. */
const usualGraceMs = 1000;

/** A handler that runs the command, and how long ending it may take, in ms. */
function commandHandler(runtime: Runtime, name: string, command: HookCommand) {
  const graceMs = command.graceMs ?? usualGraceMs;
  let made: HookHandler | undefined;
  const handler: HookHandler = async (event, context) => {
    // Loaded at the first event: most hooks are functions.
    const { commandHookHandler } = await import('./commandHook.ts');
    made ??= commandHookHandler(runtime, name, { ...command, graceMs });
    return made(event, context);
  };
  return { handler, endsWithinMs: graceMs + 2000 };
}
