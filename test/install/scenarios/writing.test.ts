import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Files, systemFiles } from '../../../install/files.ts';
import { servers, startInstall } from '../startInstall.ts';

const original = servers({ a: { command: 'npx', args: ['p'] }, b: { command: 'mem' } });
const hooks = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}';

describe('writing', () => {
  it('[E-4] keeps a copy of the file of before, for its owner alone', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original, 0o640);
    const { backup = '' } = await machine.only();
    expect(readFileSync(backup, 'utf8')).toBe(original);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(statSync(machine.at('state/install.json')).mode & 0o777).toBe(0o600);
    expect(statSync(machine.at('home/.claude.json')).mode & 0o777).toBe(0o640);
  });

  it('[E-4] writes nothing with --dry-run', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    expect(await machine.only({ dryRun: true })).toMatchObject({ status: 'changed' });
    expect(machine.read('home/.claude.json')).toBe(original);
    expect(existsSync(machine.at('state'))).toBe(false);
  });

  it.each([
    ['is read-only', (path: string) => chmodSync(path, 0o400), /read-only/],
    ['has another name', (path: string) => linkSync(path, `${path}.twin`), /hard link/],
  ])('[E-4] leaves a file that %s', async (_, prepare, why) => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    prepare(machine.at('home/.claude.json'));
    const report = await machine.only();
    expect(report).toMatchObject({ status: 'failed' });
    expect(report.why).toMatch(why);
    expect(machine.read('home/.claude.json')).toBe(original);
    expect(machine.exists('state')).toBe(false);
  });

  it('[E-4] leaves a file of another user, one for Windows programs, and a directory in its place', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    const { files } = await machine.run({}, { uid: (process.getuid?.() ?? 0) + 1 });
    expect(files).toMatchObject([{ status: 'failed', why: 'it belongs to another user' }]);
    const windows: Files = {
      ...systemFiles,
      realPath: (path) => (path.endsWith('.claude.json') ? '/mnt/c/Users/x/.claude.json' : systemFiles.realPath(path)),
      read: (path) => systemFiles.read(path.startsWith('/mnt/c/') ? machine.at('home/.claude.json') : path),
      facts: (path) => systemFiles.facts(path.startsWith('/mnt/c/') ? machine.at('home/.claude.json') : path),
    };
    expect((await machine.run({}, { files: windows })).files).toMatchObject([
      { why: expect.stringContaining('Windows') as string },
    ]);
    mkdirSync(machine.at('home/.claude/settings.json'), { recursive: true });
    expect((await machine.run({ dryRun: true })).files[1]).toMatchObject({ status: 'failed' });
    expect(machine.read('home/.claude.json')).toBe(original);
  });

  it('[E-4] leaves a file as it was, and nothing on record, when it cannot be replaced', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    const files: Files = {
      ...systemFiles,
      rename(from, to) {
        if (to.endsWith('.claude.json'))
          throw Object.assign(new Error('EROFS: read-only file system'), { syscall: 'rename' });
        systemFiles.rename(from, to);
      },
    };
    expect((await machine.run({}, { files })).files).toMatchObject([
      { status: 'failed', why: expect.stringContaining('EROFS') as string },
    ]);
    expect(machine.read('home/.claude.json')).toBe(original);
    expect(machine.recorded()).toEqual([]);
    expect(readdirSync(machine.at('home'))).toEqual(['.claude.json']);
  });
});

describe('a file that somebody else writes', () => {
  it('[E-4] is planned anew when it changed in between', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    const other = original.replace('"mem"', '"other"');
    let isFirst = true;
    const files: Files = {
      ...systemFiles,
      makeDirectory(path) {
        if (isFirst && path.endsWith('.claude.json.lock')) machine.write('home/.claude.json', other);
        isFirst &&= !path.endsWith('.claude.json.lock');
        return systemFiles.makeDirectory(path);
      },
    };
    await machine.run({}, { files });
    expect(machine.read('home/.claude.json')).toContain('"--", "other"');
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(other);
  });

  it('[E-4] is not overwritten when it changes while the new content is written', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    const other = original.replace('"mem"', '"other"');
    let isFirst = true;
    const files: Files = {
      ...systemFiles,
      create(path, bytes, dress) {
        systemFiles.create(path, bytes, dress);
        if (isFirst && path.endsWith('.claude.json.unwedge.tmp')) {
          isFirst = false;
          machine.write('home/.claude.json', other);
        }
      },
    };
    await machine.run({}, { files });
    expect(machine.read('home/.claude.json')).toContain('"--", "other"');
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(other);
  });

  it('[E-4] is given up when it changes each time', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    let count = 0;
    const files: Files = {
      ...systemFiles,
      makeDirectory(path) {
        if (path.endsWith('.claude.json.lock'))
          machine.write('home/.claude.json', original.replace('mem', `mem${++count}`));
        return systemFiles.makeDirectory(path);
      },
    };
    expect((await machine.run({}, { files })).files).toMatchObject([
      { status: 'failed', why: expect.stringContaining('all the time') as string },
    ]);
    expect(machine.read('home/.claude.json')).toBe(original.replace('mem', 'mem5'));
  });

  it('[E-4] waits for the lock of Claude Code, gives up after 10 s, and takes over one that is old', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    const lock = machine.at('home/.claude.json.lock');
    mkdirSync(lock);
    let waitedMs = 0;
    const clock = { now: () => statSync(lock).mtimeMs + waitedMs, pause: async (ms: number) => void (waitedMs += ms) };
    expect((await machine.run({}, clock)).files).toMatchObject([
      { status: 'failed', why: expect.stringContaining('.claude.json.lock is there') as string },
    ]);
    expect(waitedMs).toBe(10_000);
    expect(machine.read('home/.claude.json')).toBe(original);
    const old = new Date(Date.now() - 61_000);
    utimesSync(lock, old, old);
    expect(await machine.only()).toMatchObject({ status: 'changed' });
    expect(existsSync(lock)).toBe(false);
  });

  it('[E-4] has its lock given back when the writing fails', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    const files: Files = {
      ...systemFiles,
      create(path, bytes, dress) {
        expect(existsSync(machine.at('home/.claude.json.lock'))).toBe(true);
        if (path.endsWith('.claude.json.unwedge.tmp')) throw Object.assign(new Error('ENOSPC'), { syscall: 'write' });
        systemFiles.create(path, bytes, dress);
      },
    };
    expect((await machine.run({}, { files })).files).toMatchObject([{ status: 'failed', why: 'ENOSPC' }]);
    expect(readdirSync(machine.at('home'))).toEqual(['.claude.json']);
  });

  it('[E-4] is changed once by several installations at a time', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    machine.write('home/.codex/config.toml', '[mcp_servers.a]\ncommand = "x"\n');
    const once = startInstall();
    once.write('home/.claude.json', original);
    await once.run();
    await Promise.all(Array.from({ length: 6 }, () => machine.run({ agents: ['claude', 'codex'] })));
    expect(machine.read('home/.claude.json')).toBe(once.read('home/.claude.json').replaceAll(once.root, machine.root));
    await Promise.all(Array.from({ length: 3 }, () => machine.undo({ agents: ['claude', 'codex'] })));
    expect(machine.read('home/.claude.json')).toBe(original);
    expect(machine.read('home/.codex/config.toml')).toBe('[mcp_servers.a]\ncommand = "x"\n');
  });

  it('[E-4] is left out once the user has ended it', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', original);
    machine.write('home/.claude/settings.json', hooks);
    const controller = new AbortController();
    const files: Files = {
      ...systemFiles,
      rename(from, to) {
        systemFiles.rename(from, to);
        if (to.endsWith('.claude.json')) controller.abort(new Error('Ctrl-C'));
      },
    };
    await expect(machine.run({}, { files, signal: controller.signal })).rejects.toThrow('Ctrl-C');
    expect(machine.read('home/.claude.json')).not.toBe(original);
    expect(machine.read('home/.claude/settings.json')).toBe(hooks);
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(original);
  });
});
