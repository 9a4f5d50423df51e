import { checkGatewayOptions, type CheckedGatewayOptions, type GatewayOptions } from './gatewayOptions.ts';
import { formatDuration } from './policy/duration.ts';
import { say } from './policy/logger.ts';
import { createRuntime, type RuntimeOwner } from './runtime.ts';
import type { SupervisedAlerts } from './superviseAlerts.ts';

/** What a proxy runs on: a runtime that is started without its store, which would delay the first answer. */
export interface McpProxyRuntime {
  readonly owner: RuntimeOwner;
  readonly checked: CheckedGatewayOptions;
  /**
   * Opens the store and begins to watch for alerts, with what is on record.
   * @returns what delivers them; none when the runtime was stopped meanwhile. Never rejects.
   */
  openStore(): Promise<SupervisedAlerts['paths']>;
  /** Before the runtime stops. */
  stop(): void;
}

/** There is one child, and nobody to be spared its restarts. */
const supervisor = { intensity: 1000 };

/** @throws TypeError or RangeError that names the option and its value. */
export function createMcpProxyRuntime(options: Omit<GatewayOptions, 'supervisor'>): McpProxyRuntime {
  const checked = checkGatewayOptions({ ...options, supervisor });
  const owner = createRuntime(checked, { retention: checked.retention ?? false });
  const { runtime } = owner;
  const { logger } = checked;
  let alerts: SupervisedAlerts | undefined;

  runtime.bus.on('alert.raised', ({ integration, because, failures, crashes, windowMs, message }) => {
    const what = because === 'crashes' ? `keeps crashing: ${crashes} crashes` : `fails: ${failures} calls`;
    say(logger, 'warn', `${integration} ${what} within ${formatDuration(windowMs)}; last: ${message}`);
  });
  runtime.bus.on('alert.cleared', ({ integration, by }) => {
    say(logger, 'warn', `${integration}: all clear, ${by === 'quiet' ? 'it has been quiet' : 'its circuit closed'}`);
  });

  return {
    owner,
    checked,
    async openStore() {
      await owner.openStore();
      if (owner.stopped || checked.alerts === undefined) return [];
      // What was told before it was open is on record only once it is written.
      await runtime.store()?.flush();
      // Loaded now: it delivers by commands, which no first answer waits for.
      try {
        const { superviseAlerts } = await import('./superviseAlerts.ts');
        if (owner.stopped) return [];
        const made = superviseAlerts(runtime, checked.alerts);
        made.start();
        alerts = made;
      } catch (error) {
        // Such as a server that has the name of what delivers them; it serves its client all the same.
        say(logger, 'warn', `Nobody watches for alerts: ${error instanceof Error ? error.message : String(error)}`);
        return [];
      }
      return alerts.paths;
    },
    stop() {
      alerts?.stop();
      for (const path of alerts?.paths ?? []) path.stop();
    },
  };
}
