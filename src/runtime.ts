import type { DeadlineQueue } from './calls/deadlineQueue.ts';
import type { SignalFanout } from './calls/signalFanout.ts';
import type { Clock, Random } from './policy/clock.ts';
import type { Store } from './store/store.ts';
import type { ChildSpec } from './supervisor/childSpec.ts';
import type { RootSupervisor } from './supervisor/supervisor.ts';
import type { Bus } from './telemetry/bus.ts';

/** What the parts of one gateway share; nothing of it is global. */
export interface Runtime {
  readonly clock: Clock;
  readonly random: Random;
  readonly bus: Bus;
  readonly deadlines: DeadlineQueue;
  readonly signals: SignalFanout;
  readonly root: RootSupervisor;
  /** Open while the gateway runs. */
  store(): Store | undefined;
  /** Has the root supervisor start a child: now when it runs, else when it does, in the order of adding. */
  supervise(spec: ChildSpec): void;
}
