import { describe, expect, it } from 'vitest';
import { hasPostgres, postgresServer, query } from '../support/postgresServer.ts';
import { type KeptWhere, killGateway } from './killGateway.mjs';

async function newDatabase(): Promise<KeptWhere> {
  const url = await (await postgresServer()).database();
  return {
    path: `${url}?leaseMs=2500`,
    kept: async () => ({
      messages: await query(url, 'SELECT key, state, deliveries, stops FROM unwedge.message'),
      calls: await query(url, 'SELECT id, state, result FROM unwedge.call'),
    }),
  };
}

describe.skipIf(!hasPostgres)('a gateway on PostgreSQL that is killed and stopped under load', () => {
  it('[I-1] [I-5] [G-11] [N-1] loses nothing it acknowledged, answers every call and leaves no child', async () => {
    const report = await killGateway({ times: 9, seed: 8, store: await newDatabase() });
    expect(report).toMatchObject({ violations: [] });
    for (const counted of ['kills', 'stops', 'accepted'] as const) expect(report[counted]).toBeGreaterThan(0);
  }, 120_000);

  it('[I-1] [I-5] [G-11] [N-1] loses nothing either where its file is moved to PostgreSQL in between', async () => {
    const report = await killGateway({ times: 8, seed: 3, movesTo: await newDatabase() });
    expect(report).toMatchObject({ violations: [] });
    for (const counted of ['kills', 'stops', 'accepted', 'redelivered'] as const)
      expect(report[counted]).toBeGreaterThan(0);
  }, 120_000);
});
