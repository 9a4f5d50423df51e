import { describe, expect, it } from 'vitest';
import { describeDriver } from '../../reader/describeDriver.ts';
import { hasSqlite } from '../store/startStore.ts';
import { runBuilt } from './startCli.ts';

describe('unwedge version', () => {
  it.skipIf(!hasSqlite)('[L-7] tells the versions of unwedge, Node and SQLite', async () => {
    const { code, stdout } = await runBuilt(['version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^unwedge \d+\.\d+\.\d+\nNode \d+\.\d+\.\d+ \(\w+ \w+\)\nSQLite 3\.\d+\.\d+, by \S+.*\n$/);
    const data: unknown = JSON.parse((await runBuilt(['version', '--json'])).stdout);
    expect(data).toMatchObject({
      version: (await runBuilt(['--version'])).stdout.trim(),
      node: process.version,
      platform: process.platform,
      arch: process.arch,
      sqlite: { ok: true },
    });
  });

  it('[L-7] [E-2] tells why there is no SQLite driver, and the fix', async () => {
    const command = 'npm rebuild better-sqlite3';
    const missing = { ok: false, reason: 'no SQLite driver works', fix: `run \`${command}\``, command } as const;
    expect(await describeDriver(async () => missing)).toEqual(missing);
  });
});
