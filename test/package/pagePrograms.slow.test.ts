import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { pagesWithPrograms, programsOf } from './pagePrograms.ts';

const root = new URL('../..', import.meta.url);

describe.each(pagesWithPrograms)('%s', (page) => {
  it.each(programsOf(page))('[U-6] [R-13] shows what its program prints, no. %$', async ({ code, output }) => {
    const { stdout } = await execa(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
    expect(`${stdout}\n`).toBe(output);
  });
});
