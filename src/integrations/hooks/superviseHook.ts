import type { HookEvent, HookHandler, RegisteredHook } from './userHooks.ts';
import type { HookCommand } from './commandHook.ts';
import { defaultSettings } from '../../calls/callOptions.ts';
import { commandKeys, commandRule } from '../../machines/subprocessInput.ts';
import {
  callback,
  choice,
  duration,
  type Given,
  type KeysOf,
  name as anyName,
  text,
  type Values,
} from '../../policy/options/optionKeys.ts';
import type { Policies } from '../../policy/policies.ts';
import type { IntegrationPolicy, Limits } from '../../policy/policy.ts';
import { policyKey } from '../../policy/policyInput.ts';
import { readOptions, readValue } from '../../policy/options/readOptions.ts';
import { hookLimitMs } from '../../protocol/hookEvents.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { superviseIntegration } from '../../runtime/superviseIntegration.ts';
import { notStarted } from '../subprocess/subprocessRun.ts';
import { lateModule } from '../../actors/process/lateModule.ts';

const commandHookModule = lateModule(() => import('./commandHook.ts'));

/** A hook whose options have been checked. */
interface CheckedHook {
  readonly name: string;
  readonly event: string;
  readonly handler: HookHandler | CheckedCommand;
  readonly onFailure: 'continue' | 'block';
  readonly policy: IntegrationPolicy;
}

/** The options of a hook. */
export const hookKeys = {
  /** Its name in events and records. @defaultValue the event's name and a number */
  name: text(),
  /** Meaning of a hook that fails for the main operation: it goes on, or is declined. @defaultValue 'continue' */
  onFailure: choice(['continue', 'block'], { default: 'continue' }),
  /** Limit on the hook, in ms, above 0. @defaultValue the limits of the preset `hook`, 10 s each; 1.2 s for a command at `SessionEnd`, whose host waits 1.5 s in all */
  overallMs: duration(),
  /** Its limits, retries and circuit breaker. @defaultValue preset `hook`: one attempt */
  policy: policyKey,
};

/** Options for supervising a hook. */
export interface HookOptions extends Given<typeof hookKeys> {}

/** Time that a hook may take to end on SIGTERM, in ms, where nothing else is said: its host waits meanwhile at its own end. */
const usualGraceMs = 1000;

/** The options of its command. */
export const hookCommandKeys = {
  ...commandKeys,
  graceMs: duration({ zero: true, default: usualGraceMs }),
} satisfies KeysOf<HookCommand>;

/** {@link HookCommand}, checked. */
type CheckedCommand = Values<typeof hookCommandKeys>;

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkHook(
  event: string,
  handler: HookHandler | HookCommand,
  options: HookOptions,
  number: number,
  policies: Policies,
): CheckedHook {
  readValue('event', event, anyName);
  const own = readOptions('options', options, hookKeys);
  const { name = `${event}-${number}`, onFailure, overallMs } = own;
  const isCommand = typeof handler === 'object' && handler !== null;
  const work = isCommand
    ? readOptions('hook', handler, hookCommandKeys, commandRule)
    : readValue('handler', handler, callback<HookHandler, { readonly required: true }>({ required: true }));
  const usual = policies.presets.hook;
  const most = isCommand ? hookLimitMs(event) : Number.POSITIVE_INFINITY;
  const limits = overallMs === undefined ? capped(usual.limits, most) : all(overallMs);
  const integration = `hook:${name}`;
  policies.refuseAbout(integration, 'a hook', [
    'effect',
    'tools',
    'reconcile',
    'whenAlive',
    'spinning',
    'allow',
    'deny',
  ]);
  const policy = policies.policyOf(name, own.policy, { ...usual, limits }, integration);
  return { name, event, handler: work, onFailure, policy };
}

const all = (ms: number): Limits => ({ idleMs: ms, attemptMs: ms, overallMs: ms });

function capped({ idleMs, attemptMs, overallMs }: Limits, most: number): Limits {
  const cap = (ms: number): number => Math.min(ms, most);
  return { idleMs: cap(idleMs), attemptMs: cap(attemptMs), overallMs: cap(overallMs) };
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
    serves: true,
    operation: command?.handler ?? (handler as HookHandler),
  });
  return { name, event, onFailure, path, settings: defaultSettings(policy, undefined) };
}

/** A handler that runs the command, and how long ending it may take, in ms. */
function commandHandler(runtime: Runtime, name: string, command: CheckedCommand) {
  let made: HookHandler | undefined;
  const handler: HookHandler = async (event, context) => {
    // Loaded at the first event: most hooks are functions.
    const { commandHookHandler } = await commandHookModule().catch((error: unknown) => {
      throw notStarted(command.command, error);
    });
    made ??= commandHookHandler(runtime, name, command);
    return made(event, context);
  };
  return { handler, endsWithinMs: command.graceMs + 2000 };
}
