import { infinity } from './duration.ts';

const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** A duration as it may be written in a configuration, and exact: `720h`, `90s`, `1500ms`, `infinity`. */
export function durationText(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return infinity;
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
