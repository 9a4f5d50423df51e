import { setTimeout as passed } from 'node:timers/promises';
import { type Ask, fillDisk, heldBy, lastChange, takings } from './audit.ts';
import type { NodeProcess } from './nodeProcess.ts';

/** What a round does to a cluster. */
export type Fault = 'kill' | 'freeze' | 'hole' | 'deaf' | 'mute' | 'stop' | 'release' | 'restart' | 'disk';

export const faults: readonly Fault[] = [
  'kill',
  'freeze',
  'hole',
  'deaf',
  'mute',
  'stop',
  'release',
  'restart',
  'disk',
];

/** How long a take-over may take, in ms. */
const takeoverWithinMs = 15_000;
/** How long an orderly stop may take, whatever the database does, in ms. */
const stopWithinMs = 30_000;

export interface FaultyCluster {
  readonly ask: Ask;
  readonly random: () => number;
  readonly leaseMs: number;
  /** Ends the database server at once, and starts it again. */
  crashServer(): Promise<void>;
}

/** What came of a fault. */
export interface FaultReport {
  /** How long each session of the node was nobody's, in ms. */
  readonly takeovers: readonly number[];
  readonly violations: readonly string[];
}

/** Does one thing wrong, and puts it right again. Resolves when the sessions of the node are another's. */
export async function harm(fault: Fault, node: NodeProcess, cluster: FaultyCluster): Promise<FaultReport> {
  const { ask, random, leaseMs } = cluster;
  switch (fault) {
    case 'restart':
      await cluster.crashServer();
      return nothing;
    case 'disk':
      await fillDisk(ask, 500 + random() * 2_500);
      return nothing;
    case 'kill':
      return takenOver(node, cluster, () => node.signal('SIGKILL'));
    case 'stop':
      return takenOver(node, cluster, () => node.signal('SIGTERM'), stopped(node));
    case 'release':
      node.path.begin('release');
      return takenOver(node, cluster, () => node.signal('SIGTERM'), stopped(node));
    case 'freeze':
      // Its lease ends, or nearly so.
      return takenOver(node, cluster, () => node.signal('SIGSTOP'), {
        async over() {
          await passed(leaseMs * (0.8 + random() * 2));
          node.signal('SIGCONT');
        },
      });
    case 'hole':
    case 'deaf':
    case 'mute':
      return takenOver(node, cluster, () => node.path.begin(fault), {
        async over() {
          await passed(leaseMs * (0.8 + random() * 3));
          node.path.heal();
        },
      });
  }
}

const nothing: FaultReport = { takeovers: [], violations: [] };

interface End {
  /** Puts it right. @returns what was wrong with that. */
  over(): Promise<string | void>;
}

function stopped(node: NodeProcess): End {
  return {
    async over() {
      const ended = node.exited.then(() => true);
      const isEnded = await Promise.race([ended, passed(stopWithinMs).then(() => false)]);
      node.path.heal();
      if (isEnded) return undefined;
      node.signal('SIGKILL');
      return `${node.name} did not stop within ${stopWithinMs} ms`;
    },
  };
}

/** @param begin - harms the node. @param end - puts it right again; without it the node is gone. */
async function takenOver(
  node: NodeProcess,
  { ask, leaseMs }: FaultyCluster,
  begin: () => void,
  end?: End,
): Promise<FaultReport> {
  const held = await heldBy(ask, node.name);
  const last = await lastChange(ask);
  begin();
  const at = Date.now();
  let over: { readonly wrong: string | void } | undefined;
  const ending = (end?.over() ?? Promise.resolve()).then((wrong) => {
    over = { wrong };
  });
  const takeovers = new Map<string, number>();
  // One that came back in time keeps what it has.
  const isDue = (): boolean => over === undefined || (end === undefined ? true : !node.isReady);
  for (;;) {
    for (const taking of await takings(ask, last)) {
      const from = held.find(({ session }) => session === taking.session);
      if (from === undefined || taking.at < at || from.owner === taking.owner || takeovers.has(taking.session))
        continue;
      takeovers.set(taking.session, taking.at - at);
    }
    if (takeovers.size === held.length || Date.now() - at > takeoverWithinMs || !isDue()) break;
    await passed(50);
  }
  await ending;
  const violations = over?.wrong === undefined ? [] : [over.wrong];
  const isGone = end === undefined;
  for (const { session } of held) {
    if (isGone && !takeovers.has(session)) {
      violations.push(`${session} of ${node.name} was not taken over within ${takeoverWithinMs} ms`);
    }
  }
  for (const [session, ms] of takeovers) {
    if (ms > takeoverWithinMs + leaseMs) violations.push(`${session} of ${node.name} was taken over after ${ms} ms`);
  }
  return { takeovers: [...takeovers.values()], violations };
}
