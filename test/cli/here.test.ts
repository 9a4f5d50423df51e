import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failed, hasSqlite, temporaryDirectory } from '../store/startStore.ts';
import { databaseWith, runHere } from './startCli.ts';
import { main } from './startRun.ts';

/** A home in which Claude Code has these servers. */
function homeWith(servers?: object): string {
  const home = temporaryDirectory();
  if (servers !== undefined) writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
  return home;
}

/** What `unwedge` alone says in 80 columns. */
async function said(env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runHere([], { COLUMNS: '80', PATH: '/usr/bin:/bin', ...env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(stderr.trimEnd().split('\n').length).toBeLessThan(24);
  expect(stderr).toMatch(/\nAll commands: (?:npx )?unwedge(?:@\S+)? --help\n/);
  return stderr;
}

const next = (text: string): string | undefined =>
  /^Next: (?:npx )?(unwedge)(?:@\S+)?( .*)$/m.exec(text)?.slice(1).join('');

describe.skipIf(!hasSqlite)('unwedge without a command', () => {
  it('[L-8] shows itself at work where nothing is configured and nothing is on record', async () => {
    const text = await said({ HOME: homeWith() });
    expect(text).toContain('no client has servers, hooks or agents, and nothing is on record');
    expect(next(text)).toBe('unwedge demo');
  });

  it('[L-8] starts itself as a shell here does: by its name where that is this one, else through npx', async () => {
    const home = homeWith();
    expect(await said({ HOME: home })).toMatch(/^Next: npx unwedge@\d+\.\d+\.\d+ demo$/m);
    const bin = temporaryDirectory();
    symlinkSync(main, join(bin, 'unwedge'));
    expect(await said({ HOME: home, PATH: bin })).toMatch(/^Next: unwedge demo$/m);
  });

  it('[L-8] names the client whose servers stand alone, and how to see what would be changed', async () => {
    const text = await said({ HOME: homeWith({ kb: { command: 'sh' }, files: { command: 'sh' } }) });
    expect(text).toContain('2 servers, hooks and agents in ~/.claude.json, 0 behind unwedge');
    expect(next(text)).toBe('unwedge install claude --dry-run');
  });

  it('[L-8] leads to the doctor where what is configured cannot start', async () => {
    const text = await said({ HOME: homeWith({ kb: { command: 'no-such-program' } }) });
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(
      /1 thing in it needs a look: .*kb.*no-such-program.* \((?:npx )?unwedge\S* doctor shows it\)/,
    );
    expect(next(text)).toBe('unwedge doctor');
  });

  it('[L-8] leads to the status where something is on record', async () => {
    const db = await databaseWith(failed(1, { at: Date.now() }));
    const text = await said({ HOME: homeWith(), UNWEDGE_DB: db });
    expect(text).toMatch(/On record in .*: 1\s+integration, 0\s+sessions/);
    expect(next(text)).toBe('unwedge status');
  });

  it('[L-8] leads to the status first where something on record needs a look', async () => {
    const facts = Array.from({ length: 30 }, (_, call) => failed(call, { at: Date.now() }));
    const HOME = homeWith({ kb: { command: 'sh' } });
    const text = await said({ HOME, UNWEDGE_DB: await databaseWith(...facts) });
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(/1 matter to look at, first: kb \S/);
    expect(next(text)).toBe('unwedge status');
  });

  it('[L-8] leads to the doctor where the record cannot be read', async () => {
    const home = homeWith();
    const db = join(home, 'record');
    mkdirSync(db);
    expect(next(await said({ HOME: home, UNWEDGE_DB: db }))).toBe('unwedge doctor');
    writeFileSync(join(home, 'text'), 'no database');
    expect(next(await said({ HOME: home, UNWEDGE_DB: join(home, 'text') }))).toBe('unwedge doctor');
  });

  it('[L-8] tells no secret of an address that a client has', async () => {
    const text = await said({ HOME: homeWith({ kb: { command: 'sh', env: { API_KEY: 'sk-1234567890abcdef' } } }) });
    expect(text).not.toContain('sk-1234567890abcdef');
  });
});
