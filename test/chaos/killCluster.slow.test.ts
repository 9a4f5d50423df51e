import { describe, expect, it } from 'vitest';
import { killCluster } from '../cluster/killCluster.ts';
import { hasPostgres } from '../support/postgresServer.ts';

describe.skipIf(!hasPostgres)('gateways on one PostgreSQL that are killed, frozen and cut off under load', () => {
  it('[N-2] [N-4] [I-5] [G-11] lose nothing they acknowledged, double nothing, and take over within 15 s, by the history checker', async () => {
    const report = await killCluster({ times: 1, seed: 21 });
    expect(report).toMatchObject({ violations: [] });
    for (const counted of ['accepted', 'processed', 'calls', 'claims'] as const) {
      expect(report[counted]).toBeGreaterThan(0);
    }
    expect(report.processed).toBeGreaterThanOrEqual(report.accepted);
    expect(report.takeovers.max).toBeLessThanOrEqual(15_000);
  }, 600_000);
});
