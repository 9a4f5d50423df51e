import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { said, servers, startInstall } from '../startInstall.ts';

const npx = { command: 'npx', args: ['-y', 'p'] };
const original = servers({ a: npx, b: { command: 'mem' } });

type Fields = Record<string, { command: string; args?: string[]; env?: object }>;

/** A machine whose servers are wrapped. */
async function startWrapped() {
  const machine = startInstall();
  machine.write('home/.claude.json', original);
  await machine.run();
  return {
    ...machine,
    /** Edits the servers, and has the file written anew. */
    edit(change: (entries: Fields) => void, indent: number | string = 2): void {
      const { mcpServers } = JSON.parse(machine.read('home/.claude.json')) as { mcpServers: Fields };
      change(mcpServers);
      machine.write('home/.claude.json', JSON.stringify({ mcpServers }, null, indent));
    },
    now: () => (JSON.parse(machine.read('home/.claude.json')) as { mcpServers: Fields }).mcpServers,
  };
}

describe('install --undo', () => {
  it('[E-4] brings back the bytes of before, keeps the mode, and leaves no backup with secrets', async () => {
    const machine = await startWrapped();
    // As a run that was killed while it wrote leaves it.
    machine.write('state/backups/.0a1b.unwedge.tmp', original);
    const { files } = await machine.undo();
    expect(files).toMatchObject([
      { status: 'changed', isExact: true, entries: [{ action: 'restored' }, { action: 'restored' }] },
    ]);
    expect(machine.read('home/.claude.json')).toBe(original);
    const { statSync } = await import('node:fs');
    expect(statSync(machine.at('home/.claude.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(machine.at('state/backups'))).toEqual([]);
    expect((await machine.undo()).files).toEqual([]);
  });

  it.each([2, 4, '\t', 0])(
    '[E-4] finds its words in a file that its program wrote anew with the indent %j',
    async (indent) => {
      const machine = await startWrapped();
      machine.edit((entries) => {
        entries['c'] = { command: 'new' };
      }, indent);
      const { files } = await machine.undo();
      expect(files).toMatchObject([{ isExact: false }]);
      expect(machine.read('home/.claude.json')).toBe(
        JSON.stringify({ mcpServers: { a: npx, b: { command: 'mem' }, c: { command: 'new' } } }, null, indent),
      );
    },
  );

  it('[E-4] keeps of a file that was edited since the last state alone, and says where: it may hold secrets', async () => {
    const machine = await startWrapped();
    machine.edit((entries) => {
      entries['c'] = { command: 'new' };
    });
    const edited = machine.read('home/.claude.json');
    const { files } = await machine.undo();
    expect(readdirSync(machine.at('state/backups')).map((name) => machine.read(`state/backups/${name}`))).toEqual([
      edited,
    ]);
    expect(readFileSync(files[0]?.backup ?? '', 'utf8')).toBe(edited);
  });

  it('[E-4] keeps what was edited around and inside an entry', async () => {
    const machine = await startWrapped();
    machine.edit((entries) => {
      entries['a']?.args?.push('--more');
      Object.assign(entries['b'] ?? {}, { env: { X: '1' } });
    });
    await machine.undo();
    expect(machine.now()).toEqual({
      a: { command: 'npx', args: ['-y', 'p', '--more'] },
      b: { command: 'mem', env: { X: '1' } },
    });
  });

  it('[E-4] follows an entry that was renamed, and does not bring back one that was deleted', async () => {
    const machine = await startWrapped();
    machine.edit((entries) => {
      entries['renamed'] = entries['b'] ?? npx;
      delete entries['b'];
      delete entries['a'];
    });
    await machine.undo();
    expect(machine.now()).toEqual({ renamed: { command: 'mem' } });
  });

  it('[E-4] keeps options that the user put into our words out of the way', async () => {
    const machine = await startWrapped();
    machine.edit((entries) => {
      entries['a']?.args?.splice(2, 0, '--idle-timeout', '9s');
    });
    await machine.undo();
    expect(machine.now()['a']).toEqual(npx);
  });

  it('[E-4] leaves what the user wrapped by hand since, and what is no longer ours', async () => {
    const machine = await startWrapped();
    const byHand = { command: 'unwedge', args: ['mcp', '--', 'other'] };
    machine.edit((entries) => {
      entries['hand'] = byHand;
      entries['b'] = { command: 'plain' };
    });
    const { files } = await machine.undo();
    expect(files.flatMap(said)).toEqual(['restored a']);
    expect(machine.now()).toEqual({ a: npx, b: { command: 'plain' }, hand: byHand });
  });

  it.each([
    ['gone', undefined],
    ['half-written', '{"version":1,"files":{'],
    ['of another kind', '{"version":1,"files":{"x":3},"scripts":[]}'],
    ['of a later version', '{"version":2}'],
  ])('[E-4] does without a record that is %s', async (_, record) => {
    const machine = await startWrapped();
    rmSync(machine.at('state'), { recursive: true });
    if (record !== undefined) machine.write('state/install.json', record);
    const { files } = await machine.undo();
    expect(files).toMatchObject([{ status: 'changed' }]);
    // That there was no list is known by the record only.
    expect(machine.now()).toEqual({ a: npx, b: { command: 'mem', args: [] } });
  });

  it('[E-4] undoes on another machine what came there with its files', async () => {
    const machine = await startWrapped();
    const there = startInstall();
    there.write('home/.claude.json', machine.read('home/.claude.json'));
    await there.undo();
    expect(JSON.parse(there.read('home/.claude.json'))).toMatchObject({ mcpServers: { a: npx } });
  });

  it('[E-4] shows what it would do, and does nothing, with --dry-run', async () => {
    const machine = await startWrapped();
    const before = machine.read('home/.claude.json');
    const { files } = await machine.undo({ dryRun: true });
    expect(files[0]?.diff).toContain('+      "command": "npx"');
    expect(machine.read('home/.claude.json')).toBe(before);
    expect(machine.exists('state/install.json')).toBe(true);
  });

  it('[E-4] forgets a file that is gone, and one that was restored by hand', async () => {
    const machine = await startWrapped();
    rmSync(machine.at('home/.claude.json'));
    expect((await machine.undo()).files).toMatchObject([{ status: 'same', why: 'it is gone' }]);
    expect(machine.recorded()).toEqual([]);
    machine.write('home/.claude.json', original);
    await machine.run();
    machine.write('home/.claude.json', original);
    expect((await machine.undo()).files).toEqual([]);
    expect(machine.recorded()).toEqual([]);
  });

  it('[E-4] reaches a project from anywhere', async () => {
    const machine = startInstall();
    machine.write('work/.mcp.json', original);
    await machine.run({ withProject: true });
    await machine.run({ undo: true }, { cwd: machine.at('home') });
    expect(machine.read('work/.mcp.json')).toBe(original);
  });
});
