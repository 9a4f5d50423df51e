import { slackOf } from '../../postgres/fairShare.ts';
import { seededRandom } from '../../testing/random.ts';
import { leaseMs, SimulatedCluster } from './simulatedCluster.ts';

/** What is to be found of nodes that had time to come to rest. */
export const evenly = {
  isEven: true,
  areAllOwned: true,
  laterMoves: 0,
  /** Half of the sessions, at most, for each node that came or went; each session once for each. */
  isFew: true,
  isSeldom: true,
  /** Each move lowers the sum of the squares of all counts. */
  isFalling: true,
  isOwnedSoon: true,
};

/** Two to six nodes of one seed, in the time after some of them have joined, left and died. */
export async function settled(seed: number): Promise<typeof evenly> {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const ids = Array.from({ length: 10 + below(90) }, (_, index) => `s-${index}`);
  const cluster = new SimulatedCluster(random, ids);
  const changes = await shake(cluster, ids, below);
  await cluster.clock.advance(45_000);
  const { counts, given } = cluster;
  const moved = given.length;
  await cluster.clock.advance(10 * leaseMs);
  const most = counts.at(-1) ?? 0;
  const times = Math.max(0, ...ids.map((id) => given.filter((session) => session === id).length));
  return {
    isEven: most - (counts[0] ?? 0) <= slackOf(most),
    areAllOwned: counts.reduce((sum, count) => sum + count, 0) === ids.length,
    laterMoves: given.length - moved,
    isFew: moved <= (ids.length * changes) / 2,
    isSeldom: times <= changes,
    isFalling: cluster.leastFall >= 2,
    isOwnedSoon: cluster.longestFreeMs <= 2 * leaseMs,
  };
}

/** Nodes of one seed that join, leave and die, while some sessions work. @returns how often one came or went. */
async function shake(cluster: SimulatedCluster, ids: readonly string[], below: (limit: number) => number) {
  const nodes = Array.from({ length: 1 + below(3) }, () => cluster.join());
  let changes = nodes.length;
  await cluster.clock.advance(10_000);
  for (let left = 1 + below(4); left > 0; left--) {
    for (let busy = below(10); busy > 0; busy--) cluster.keepBusy(ids[below(ids.length)] ?? '', below(10_000));
    if (nodes.length < 6 && (nodes.length <= 2 || below(10) < 6)) nodes.push(cluster.join());
    else cluster.leave(nodes.splice(below(nodes.length), 1)[0] ?? '', below(2) === 0);
    changes++;
    await cluster.clock.advance(below(8_000));
  }
  return changes;
}
