import { describe, expect, it } from 'vitest';
import { hasPostgres, postgresServer, query } from '../support/postgresServer.ts';
import { killGateway } from './killGateway.mjs';

describe.skipIf(!hasPostgres)('a gateway on PostgreSQL that is killed and stopped under load', () => {
  it('[I-1] [I-5] [G-11] [N-1] loses nothing it acknowledged, answers every call and leaves no child', async () => {
    const url = await (await postgresServer()).database();
    const kept = async () => ({
      messages: await query(url, 'SELECT key, state, deliveries, stops FROM unwedge.message'),
      calls: await query(url, 'SELECT id, state, result FROM unwedge.call'),
    });
    const report = await killGateway({ times: 9, seed: 8, store: { path: `${url}?leaseMs=1000`, kept } });
    expect(report).toMatchObject({ violations: [] });
    for (const counted of ['kills', 'stops', 'accepted'] as const) expect(report[counted]).toBeGreaterThan(0);
  }, 120_000);
});
