import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const node = (...words: readonly string[]) => spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
const proof = (...words: readonly string[]) => node('scripts/proof.mjs', ...words);
const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { readonly scripts: object };

describe('npm run proof', () => {
  const { stdout, status } = proof('--list');
  const listed = stdout.split('\n').filter((line) => /^\S/.test(line));

  it('[Q-8] runs scripts that there are, and says of each what it attacks', () => {
    expect(status).toBe(0);
    expect(listed.length).toBeGreaterThan(10);
    for (const line of listed) {
      const [, script = ''] = / npm run (\S+)/.exec(line) ?? [];
      expect([script, script in scripts]).toEqual([script, true]);
    }
    expect(stdout.split('\n').filter((line) => /^ {15}\S/.test(line))).toHaveLength(listed.length);
  });

  it('[Q-8] has every scenario of chaos', () => {
    const [, names = ''] = /chaos -- (\S+) /.exec(node('test/chaos/run.mjs', '--help').stdout) ?? [];
    for (const name of names.split('|')) expect(stdout).toContain(`npm run chaos -- ${name} --times `);
  });

  it('[Q-8] runs some of them, and names all to who asks for another', () => {
    expect(proof('--list', '--only', 'fuzz').stdout).toMatch(/^fuzz .*\n +1,000,000 inputs/);
    expect(proof('--list', '--skip', 'fuzz').stdout).not.toContain('npm run fuzz');
    const wrong = proof('--only', 'no-such');
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain('security, patterns');
  });
});
