import type { IntegrationLine } from '../snapshot.ts';
import { isLow, percent } from './words.ts';

/** Success of an integration in its cell: that of the past says nothing of calls that are refused now. */
export function successOf({ circuit, report }: Pick<IntegrationLine, 'circuit' | 'report'>): {
  readonly text: string;
  readonly isBad: boolean;
} {
  const rate = report?.successRate;
  const isRefusing = circuit === 'open' || circuit === 'isolated';
  return isRefusing && (rate ?? 1) === 1
    ? { text: 'refused', isBad: true }
    : { text: percent(rate), isBad: isLow(rate) };
}
