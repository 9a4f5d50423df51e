import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

const folder = new URL('../../findings/', import.meta.url);
const names = readdirSync(folder).filter((name) => name !== 'README.md');
const scripts = names.map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));

describe('findings/', () => {
  it('[Q-9] holds scripts alone', () => {
    expect(names.filter((name) => !/^[a-z0-9-]+\.sh$/.test(name))).toEqual([]);
  });

  it.each(scripts)('[Q-9] $name says what was seen, with which version, against which guess', ({ text }) => {
    expect(text.startsWith('#!/usr/bin/env bash\n# ')).toBe(true);
    for (const head of ['Seen with:', 'Guess:', 'Seen:', 'Matters:'])
      expect(text).toMatch(new RegExp(`^# ${head} \\S`, 'm'));
  });

  it.each(scripts)('[Q-9] $name stops at the first error, works in a folder of its own, and can fail', ({ text }) => {
    expect(text).toContain('set -euo pipefail');
    expect(text).toContain('mktemp -d');
    expect(text).toMatch(/exit 1|process\.exit\(1\)/);
  });

  it.each(scripts)('[Q-9] $name pins what it installs, and runs without unwedge', ({ text }) => {
    const installed = text.split('\n').filter((line) => /^[^#]*\bnpm (install|i|exec)\b|^[^#]*\bnpx\b/.test(line));
    for (const line of installed) expect(line).toMatch(/@\d+\.\d+|\$/);
    expect(text.replaceAll(/^#.*$/gm, '')).not.toMatch(/unwedge/i);
  });
});

describe('npm run findings', () => {
  const run = (...words: readonly string[]) => {
    const script = fileURLToPath(new URL('../../scripts/findings.mjs', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
    return { status, stdout: stdout.replaceAll(/[\d.]+ s$/gm, 'N s'), stderr };
  };

  it('[Q-9] has a line for each, with what a changed one said, and fails for that one', () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'holds.sh'), 'touch "$TMPDIR/left"\n');
    writeFileSync(join(folder, 'other.sh'), 'echo "1.2.3 does not do so any more"; exit 1\n');
    writeFileSync(join(folder, 'stays.sh'), 'sleep 600\n');
    expect(run('--folder', folder, 'holds').stdout).toContain('findings: 1 of 1 as they were seen');
    const { status, stdout } = run('--folder', folder, '--minutes', '0.05');
    expect(status).toBe(1);
    expect(stdout.split('\n')).toEqual([
      'as seen  holds  N s',
      'CHANGED  other  N s',
      '         1.2.3 does not do so any more',
      'CHANGED  stays  N s',
      '         ',
      '         not ended within 0.05 min',
      'findings: 1 of 3 as they were seen',
      '',
    ]);
  });

  it('[Q-9] names those that there are to who asks for another', () => {
    const { status, stderr } = run('no-such');
    expect(status).toBe(2);
    expect(stderr).toContain('no-such; there are aws-');
  });
});
