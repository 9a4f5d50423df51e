import { describe, expect, it } from 'vitest';
import { headline } from '../../../../web/dashboard/browser/headline.ts';

const none = { waiting: 0, over: 0 };

describe('the heading of the overview', () => {
  it('[O-13] judges what the lists below it show, also a row that has just ended', () => {
    expect(headline({ waiting: 2, over: 1 }, none)).toBe('2 things need a person');
    expect(headline({ waiting: 0, over: 1 }, none)).toBe('Nothing needs a person any more');
    expect(headline(none, { waiting: 1, over: 0 })).toBe('Nothing needs a person');
    expect(headline(none, none)).toBe('All is well');
  });
});
