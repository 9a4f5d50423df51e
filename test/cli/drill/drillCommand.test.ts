import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call, runHere } from '../startCli.ts';

/** A home in which Claude Code has these. */
function homeWith(mcpServers: object, settings: object = {}): string {
  const home = temporaryDirectory();
  mkdirSync(join(home, '.claude'));
  writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers }));
  writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings));
  return home;
}

describe('unwedge drill, before it starts anything', () => {
  it('[E-9] lists what it would start, and ends with 2 where nobody is there to be asked', async () => {
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'guard' }] }] };
    const home = homeWith(
      { files: { command: 'sh', args: ['-c', 'true'] }, gone: { command: 'sh', disabled: true } },
      { hooks },
    );
    const { code, stdout, stderr } = await runHere(['drill'], { HOME: home, PATH: '/usr/bin:/bin' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('files of Claude Code: sh -c true\n');
    expect(stderr).not.toMatch(/gone|guard/);
    expect(stderr).toContain('--yes');
    expect((await runHere(['drill', '--effects'], { HOME: home, PATH: '/usr/bin:/bin' })).stderr).toContain('guard');
  });

  it('[E-9] names what there is where --only asks for another', async () => {
    const HOME = homeWith({ files: { command: 'sh', args: ['-c', 'true'] } });
    const { code, stderr } = await runHere(['drill', '--only', 'nope', '--yes'], { HOME, PATH: '/bin' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/--only[^]*nope[^]*files/);
  });

  it('[E-9] asks, and starts nothing without a yes', async () => {
    const HOME = homeWith({ files: { command: 'sh', args: ['-c', 'true'] } });
    for (const word of ['', 'n', 'yesterday']) {
      const ask = (): Promise<string> => Promise.resolve(word);
      const ran = await call(['drill'], { env: { HOME, PATH: '/bin' }, ask });
      expect(ran).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/\nunwedge: Nothing was started\n$/) as string,
      });
    }
  });

  it('[E-9] [O-8] tells no secret in what it lists', async () => {
    const env = { API_TOKEN: 'tok-0123456789abcdef' };
    const HOME = homeWith({ files: { command: 'sh', args: ['--token', env.API_TOKEN], env } });
    const { stderr } = await runHere(['drill'], { HOME, PATH: '/bin' });
    expect(stderr).toContain('--token');
    expect(stderr).not.toContain(env.API_TOKEN);
  });

  it('[E-9] starts no server that only an agent can, that a policy denies, or of a project that was not asked for', async () => {
    const HOME = homeWith(
      { filled: { command: '${BIN}/server' }, denied: { command: 'sh' }, kept: { command: 'sh', args: ['kept'] } },
      { deniedMcpServers: [{ serverName: 'denied' }] },
    );
    const { stderr } = await runHere(['drill'], { HOME, PATH: '/bin' });
    expect(stderr).toContain('kept of');
    expect(stderr).not.toMatch(/filled of|denied of/);
  });

  it('[E-9] says that there is nothing, and what a file has wrong', async () => {
    const HOME = temporaryDirectory();
    expect(await runHere(['drill'], { HOME, PATH: '/bin' })).toMatchObject({ code: 2, stdout: '' });
    writeFileSync(join(HOME, '.claude.json'), '{ not json');
    const { code, stderr } = await runHere(['drill', 'claude'], { HOME, PATH: '/bin' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('Claude Code cannot use')]);
    for (const words of [['cluade'], ['codex', 'cluade']])
      expect((await runHere(['drill', ...words], { HOME })).stderr).toContain('did you mean claude?');
  });

  it('[E-9] [L-1] says what it does on one screen of 80 by 40', async () => {
    const { stdout } = await runHere(['drill', '--help']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
