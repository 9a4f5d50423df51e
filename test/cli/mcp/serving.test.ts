import { describe, expect, it } from 'vitest';
import { TaggedErrors } from '../../../cli/mcp/serving.ts';

function startErrors() {
  let written = '';
  const errors = new TaggedErrors((chunk) => (written += String(chunk)));
  return { files: errors.of('files'), git: errors.of('git'), written: () => written };
}

describe('the stderr of several servers', () => {
  it('[P-8] has the name of its server before each line', () => {
    const { files, git, written } = startErrors();
    files('ready\n\nwaiting\n');
    git(Buffer.from('on main\n'));
    expect(written()).toBe('[files] ready\n[files] \n[files] waiting\n[git] on main\n');
  });

  it('[P-8] has it once before a line that comes in pieces, also within a character', () => {
    const { files, written } = startErrors();
    const word = Buffer.from('ä!\n');
    files('loa');
    files('ding ');
    files(word.subarray(0, 1));
    files(word.subarray(1));
    expect(written()).toBe('[files] loading ä!\n');
  });

  it('[P-8] ends a line that another server breaks into, and holds nothing back', () => {
    const { files, git, written } = startErrors();
    files('loading');
    expect(written()).toBe('[files] loading');
    git('on main\n');
    files('... done\n');
    expect(written()).toBe('[files] loading\n[git] on main\n[files] ... done\n');
  });
});
