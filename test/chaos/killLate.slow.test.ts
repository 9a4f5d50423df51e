import { expect, it } from 'vitest';
import { killLate } from './killLate.mjs';

it('[R-18] a finished answer is given once, to the session that asked, whenever gateway or server is killed', async () => {
  const report = await killLate({ times: 12, seed: 7 });
  expect(report).toMatchObject({ violations: [] });
  expect(report.late).toBeGreaterThan(0);
}, 180_000);
