import { describe, expect, it } from 'vitest';
import { hasSqlite } from '../store/startStore.ts';
import { killGateway } from './killGateway.mjs';

describe.skipIf(!hasSqlite)('a gateway that is killed under load', () => {
  it('[I-1] [I-5] [G-11] [S-8] loses nothing it acknowledged, answers every call and leaves no child', async () => {
    const report = await killGateway({ times: 5, seed: 7 });
    expect(report).toMatchObject({ kills: 5, violations: [] });
    expect(report.accepted).toBeGreaterThan(0);
  }, 120_000);
});
