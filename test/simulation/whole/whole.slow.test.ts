import { expect, it } from 'vitest';
import { runAll } from '../runSeeds.ts';
import { worlds } from '../worlds.ts';

const seconds = 60;

it(`[Q-1] [Q-2] all worlds keep every promise, and converge once their faults stop, for ${seconds} s`, {
  timeout: 600_000,
}, async () => {
  const said: string[] = [];
  const tally = await runAll(worlds, { first: 1, calls: 1_000_000, seconds }, (text) => said.push(text));
  expect(said.join('\n')).toBe('');
  expect(tally.calls).toBeGreaterThan(1000);
});
