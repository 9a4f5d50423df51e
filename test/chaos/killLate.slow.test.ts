import { expect, it } from 'vitest';
import { killLate } from './killLate.mjs';
import { killLateProxy } from './killLateProxy.mjs';

it('[R-18] a finished answer is given once, to the session that asked, whenever gateway or server is killed', async () => {
  const report = await killLate({ times: 12, seed: 7 });
  expect(report).toMatchObject({ violations: [] });
  expect(report.late).toBeGreaterThan(0);
}, 180_000);

it.each(['url', 'stdio'] as const)(
  '[R-18] a finished answer is given once, to the client that asked, whenever its proxy or a server by %s is killed',
  async (by) => {
    const report = await killLateProxy({ times: 8, seed: 7, by });
    expect(report).toMatchObject({ by, violations: [] });
    expect(report.late).toBeGreaterThan(0);
  },
  180_000,
);
