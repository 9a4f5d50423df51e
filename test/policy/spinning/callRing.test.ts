import { expect, it } from 'vitest';
import { CallRing } from '../../../src/policy/spinning/callRing.ts';

it('[G-15] a ring that was kept goes on where it was; rows of another release, or damaged, are an empty one', () => {
  const ring = new CallRing();
  const key = { tool: 1, call: 2 };
  const answer = { exact: 3, alike: 3, reason: 3 };
  const add = (to: CallRing): number =>
    to.add({ key, answer, failed: true, acts: true, slow: false }, () => false).count;
  for (let nth = 0; nth < 3; nth++) add(ring);
  const [marks = [], ...rows] = ring.toRows();
  expect(add(CallRing.from([marks, ...rows]))).toBe(4);
  const damaged = [
    rows.map((row) => row.slice(1)),
    rows.map((row) => [...row, 0]),
    rows.map((row) => row.map(String)),
    rows.map((row) => Object.fromEntries(row.entries())),
    [...rows.slice(1), [Number.NaN, ...(rows[0] ?? []).slice(1)]],
  ];
  for (const each of damaged) expect(add(CallRing.from([marks, ...each]))).toBe(1);
});
