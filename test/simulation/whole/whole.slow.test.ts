import { expect, it } from 'vitest';
import { runAll } from '../runAll.ts';

const seconds = 60;

it(`[Q-1] [Q-2] all worlds keep every promise, and converge once their faults stop, for ${seconds} s`, {
  timeout: 600_000,
}, async () => {
  const said: string[] = [];
  const tally = await runAll({ first: 1, calls: 1_000_000, seconds }, (text) => said.push(text));
  expect(tally.failed.length === 0 ? [] : said).toEqual([]);
  expect(tally.calls).toBeGreaterThan(1000);
});
