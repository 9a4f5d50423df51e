import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

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
