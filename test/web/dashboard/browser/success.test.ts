import { expect, it } from 'vitest';
import { successOf } from '../../../../web/dashboard/browser/success.ts';
import type { IntegrationLine } from '../../../../web/dashboard/snapshot.ts';

type Report = NonNullable<IntegrationLine['report']>;
const report = (successRate: number | undefined): Report => ({ successRate }) as Report;

it.each<[IntegrationLine['circuit'], number | undefined, string, boolean]>([
  ['open', 1, 'refused', true],
  ['isolated', 1, 'refused', true],
  ['open', undefined, 'refused', true],
  ['open', 0.5, '50.00 %', true],
  ['half-open', 1, '100.00 %', false],
  ['closed', 1, '100.00 %', false],
  ['closed', 0.98, '98.00 %', true],
  ['closed', undefined, '–', false],
])('[O-13] the success of an integration whose circuit is %s, at %j, is told as %s', (circuit, rate, text, isBad) => {
  expect(successOf({ circuit, report: report(rate) })).toEqual({ text, isBad });
});
