import { expect, it } from 'vitest';
import { killInbox } from './killInbox.mjs';

it('[G-17] a question is asked once and its answer reaches its turn, whenever the gateway is killed', async () => {
  const report = await killInbox({ times: 12, seed: 7 });
  expect(report).toMatchObject({ violations: [] });
  expect(report.allowed).toBeGreaterThan(0);
}, 180_000);
