import { hookHostMs, hookLimitMs } from '../../protocol/hookEvents.ts';
import type { HookArgs } from './hookArgs.ts';
import { type HostTimeout, readHostTimeout } from './hostTimeout.ts';

/** Limits of time, in ms since this process started: its host has waited since then. */
export interface HookLimits {
  /** Returns that of the run. @param ownMs - what the hook itself asked for. */
  readonly run: (event: string | undefined, ownMs?: number) => number;
  /** Returns that of this process: then the host ends it, or goes on without it. */
  readonly whole: (event: string | undefined) => number;
}

/** The host's own limit comes from `--host-timeout`, else from its settings, else it is taken to be the usual one of the event. */
export function createHookLimits(
  args: Pick<HookArgs, 'command' | 'timeoutMs' | 'hostTimeoutMs'>,
  env: NodeJS.ProcessEnv,
): HookLimits {
  const { timeoutMs, hostTimeoutMs } = args;
  const ofHost: HostTimeout = hostTimeoutMs === undefined ? readHostTimeout(args, env) : () => hostTimeoutMs;
  return {
    run: (event, ownMs) => {
      const hostMs = ofHost(event);
      const asked = timeoutMs ?? ownMs;
      if (asked === undefined) return hookLimitMs(event, hostMs);
      // A guard that is ended by its host has not declined.
      return hostMs === undefined ? asked : Math.min(asked, hookLimitMs(event, hostMs));
    },
    whole: (event) => ofHost(event) ?? hookHostMs(event),
  };
}
