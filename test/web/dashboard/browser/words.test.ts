import { describe, expect, it } from 'vitest';
import { headline, noteText, successOf } from '../../../../web/dashboard/browser/words.ts';
import type { IntegrationLine } from '../../../../web/dashboard/snapshot.ts';

const none = { waiting: 0, over: 0 };

describe('the heading of the overview', () => {
  it('[O-13] judges what the lists below it show, also a row that has just ended', () => {
    expect(headline({ waiting: 2, over: 1 }, none)).toBe('2 things need a person');
    expect(headline({ waiting: 0, over: 1 }, none)).toBe('Nothing needs a person any more');
    expect(headline(none, { waiting: 1, over: 0 })).toBe('Nothing needs a person');
    expect(headline(none, none)).toBe('All is well');
  });
});

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

it('[O-3] [O-13] the note of an alert says who looks after it, and counts down to the end of its rest until that has come', () => {
  const snoozed = { is: 'snoozed', by: 'ana', at: 1000, until: 5000 } as const;
  expect(noteText(snoozed, 4999)).toEqual({ text: 'put off by ana for', at: 1000, endsAt: 5000 });
  expect(noteText(snoozed, 5000)).toEqual({ text: 'was put off by ana', at: 5000 });
  expect(noteText({ is: 'acknowledged', at: 1000 }, 4999)).toEqual({ text: 'acknowledged by somebody', at: 1000 });
});
