import { checkStop } from './gatewayDrain.ts';
import type { GatewayParts } from './gatewayParts.ts';
import type { Gateway } from './gatewayTypes.ts';
import { say } from './policy/logger.ts';
import type { StopSteps } from './runtime.ts';

/** How a gateway starts and stops. */
export function gatewayLife(parts: GatewayParts): Pick<Gateway, 'start' | 'stop'> {
  const { checked, owner, runtime, paths, sessions, agents, workflows, kept, inspection, live, alerts } = parts;
  const { drain, unguards } = parts;
  let stopping: Promise<void> | undefined;

  const steps: StopSteps = {
    first() {
      alerts?.stop();
      for (const unguard of unguards) unguard();
      for (const session of sessions.values()) session.close();
      for (const workflow of workflows.values()) workflow.stop();
      for (const path of paths.values()) path.stop();
      for (const agent of agents) void agent.stop();
    },
    ended() {
      for (const session of sessions.values()) session.ended();
      kept.stop();
      live.stop();
      inspection.close();
    },
  };

  /** A name that was mistyped would be configured for nothing, without a word. */
  function tellUnused(): void {
    for (const { integration, nearest } of runtime.policies.unused([...paths.keys()])) {
      const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      say(checked.logger, 'warn', `Configured for ${integration}, which no integration is declared as${guess}`);
      runtime.bus.tell({ type: 'config.unused', integration, nearest });
    }
  }

  function stopAfter(drainMs: number): Promise<void> {
    // Before its start nothing is under way that could end by itself.
    if (drainMs === 0 || !owner.running) return owner.stop(steps);
    return drain.begin(drainMs).then(() => owner.stop(steps));
  }

  return {
    async start() {
      await owner.start();
      await Promise.all([...workflows.values()].map((workflow) => workflow.loaded()));
      for (const workflow of workflows.values()) workflow.started();
      alerts?.start();
      tellUnused();
      await kept.start(await live.start());
    },
    stop(options = {}) {
      const { drainMs } = checkStop(options);
      drain.shorten(drainMs);
      if (stopping !== undefined) return stopping;
      let stopped: (end: Promise<void>) => void = () => undefined;
      // First: who hears of an end may call again, and is to join this one.
      stopping = new Promise((resolve) => {
        stopped = resolve;
      });
      stopped(stopAfter(drainMs));
      return stopping;
    },
  };
}
