import { duration, type KeysOf } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import type { GatewayScope } from './gatewayScope.ts';
import type { Gateway, StopOptions } from './gatewayTypes.ts';

/** Gives the start and the stop of a gateway. */
export function gatewayLife({ registry, kept, reminder, alerts, show }: GatewayScope): Pick<Gateway, 'start' | 'stop'> {
  return {
    async start() {
      reminder.end();
      await registry.start();
      // Stopped meanwhile: the store is being closed.
      if (registry.stopped) return;
      await alerts?.start();
      registry.tellUnused();
      await kept.start(await show());
    },
    stop(options = {}) {
      const checked = checkStop(options);
      reminder.end();
      return registry.stop(checked);
    },
  };
}

const stopKeys = { drainMs: duration({ zero: true, default: 0 }) } satisfies KeysOf<StopOptions>;

/** @throws TypeError or RangeError that names the option and its value. */
function checkStop(options: StopOptions | string): { readonly drainMs: number } {
  // Signal names come here from `process.once('SIGTERM', gateway.stop)`; a throw there would end the process with its children left behind.
  if (typeof options === 'string') return { drainMs: 0 };
  return readOptions('options', options, stopKeys);
}
