import { expect, it } from 'vitest';
import { noteText } from '../../../../web/dashboard/browser/alertNote.ts';

it('[O-3] [O-13] the note of an alert says who looks after it, and counts down to the end of its rest until that has come', () => {
  const snoozed = { is: 'snoozed', by: 'ana', at: 1000, until: 5000 } as const;
  expect(noteText(snoozed, 4999)).toEqual({ text: 'put off by ana for', at: 1000, endsAt: 5000 });
  expect(noteText(snoozed, 5000)).toEqual({ text: 'was put off by ana', at: 5000 });
  expect(noteText({ is: 'acknowledged', at: 1000 }, 4999)).toEqual({ text: 'acknowledged by somebody', at: 1000 });
});
