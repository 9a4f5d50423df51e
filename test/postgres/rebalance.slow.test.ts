import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../testing/random.ts';
import { evenly, settled } from './clusterSeeds.ts';
import { leaseMs, SimulatedCluster } from './simulatedCluster.ts';

describe('nodes that share sessions, of very many seeds', { timeout: 600_000 }, () => {
  it('[N-2] come to even counts by few moves, whoever joins, leaves or dies, and then none is moved', async () => {
    for (let seed = 1; seed <= 500; seed++) expect(await settled(seed), `seed ${seed}`).toEqual(evenly);
  });

  it('[N-2] come to rest where each wants only some of the sessions, and mail often comes before an heir', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = seededRandom(seed);
      const ids = Array.from({ length: 60 }, (_, index) => `s-${index}`);
      const cluster = new SimulatedCluster(random, ids, 0.3);
      for (let node = 0; node < 4; node++) {
        cluster.join(ids.filter((_, index) => index % 4 === node || random() < 0.4));
        await cluster.clock.advance(4_000 * random());
      }
      await cluster.clock.advance(90_000);
      const moved = cluster.given.length;
      await cluster.clock.advance(10 * leaseMs);
      expect([seed, cluster.given.length - moved, moved <= 2 * ids.length]).toEqual([seed, 0, true]);
    }
  });
});
