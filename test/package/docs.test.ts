import { describe, expect, it } from 'vitest';
import { readReasons, reasonsPage } from '../../scripts/reasonTable.mjs';
import { failureReasons } from '../../src/policy/failures/failure.ts';
import { differingRows } from '../support/differingRows.ts';
import { pagesWithPrograms, programsOf, readPage as read } from './pagePrograms.ts';

describe.each(pagesWithPrograms)('%s', (page) => {
  it('[U-6] shows no program without its output', () => {
    const programs = programsOf(page);
    expect(programs).toHaveLength(read(page).split('```js\n').length - 1);
    expect(programs.length).toBeGreaterThan(0);
  });
});

describe.each(pagesWithPrograms.filter((page) => page !== 'docs/streams.md'))('%s', (page) => {
  it('is at most 250 lines long, without the tables that are made', () => {
    const text = read(page).replace(/^<!-- ([\w. ]+):.*-->\n[\s\S]*?<!-- end of \1 -->\n/gm, '');
    expect(text.split('\n').length).toBeLessThanOrEqual(250);
  });
});

describe('docs/failure-modes.md', () => {
  it('has every reason of a failure, in the words of its type; else: node scripts/reasonTable.mjs --write', () => {
    expect(readReasons()).toEqual(failureReasons);
    expect(differingRows(reasonsPage())).toEqual([]);
  });
});
