import { describe, expect, it } from 'vitest';
import { hasSqlite } from '../store/startStore.ts';
import { killGateway } from './killGateway.mjs';

describe.skipIf(!hasSqlite)('a gateway that is killed and stopped under load', () => {
  it('[I-1] [I-5] [G-11] [S-8] loses nothing it acknowledged, answers every call and leaves no child', async () => {
    const report = await killGateway({ times: 9, seed: 8 });
    expect(report).toMatchObject({ violations: [] });
    for (const counted of ['kills', 'stops', 'accepted'] as const) expect(report[counted]).toBeGreaterThan(0);
  }, 120_000);
});
