import { describe, expect, it } from 'vitest';
import { startInstall } from './startInstall.ts';

describe('the diff', () => {
  it('[E-4] is a unified one, with three lines around each change', async () => {
    const machine = startInstall();
    const lines = Array.from({ length: 20 }, (_, index) => `# ${index}`);
    const text = [...lines, '[mcp_servers.a]', 'command = "x"', ...lines, '[mcp_servers.b]', 'command = "y"'].join(
      '\n',
    );
    machine.write('home/.codex/config.toml', text);
    const { diff = '' } = await machine.only({ agents: ['codex'], dryRun: true });
    const own = (name: string) => `args = [${machine.front(name, '"--max-result", "10kB", ')}`;
    expect(diff.split('\n')).toEqual([
      `--- ${machine.at('home/.codex/config.toml')}`,
      `+++ ${machine.at('home/.codex/config.toml')}`,
      '@@ -1,3 +1,4 @@',
      '+mcp_optional_startup_grace_ms = 8000',
      ' # 0',
      ' # 1',
      ' # 2',
      '@@ -19,7 +20,8 @@',
      ' # 18',
      ' # 19',
      ' [mcp_servers.a]',
      '-command = "x"',
      `+${own('a')}, "x"]`,
      '+command = "/usr/bin/node"',
      ' # 0',
      ' # 1',
      ' # 2',
      '@@ -41,4 +43,5 @@',
      ' # 18',
      ' # 19',
      ' [mcp_servers.b]',
      '-command = "y"',
      `+${own('b')}, "y"]`,
      '+command = "/usr/bin/node"',
      '',
    ]);
  });

  it('[E-4] hides values of the environment and of headers, and what looks like a secret', async () => {
    const machine = startInstall();
    const token = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
    const entry = {
      command: 'npx',
      args: ['--api-key', 'hunter2', `--url=https://me:hunter2@x.example`, token, 'plain'],
      env: { PLAIN: 'hunter2', DEEP: ['hunter2'] },
      headers: { 'X-Any': 'hunter2' },
    };
    machine.write('home/.claude.json', JSON.stringify({ mcpServers: { a: entry } }));
    machine.write(
      'home/.codex/config.toml',
      `# token=${token}\n[mcp_servers.a]\ncommand = "x"\nenv = { A = """\nhunter2\n""" }\n`,
    );
    const { files } = await machine.run({ agents: ['claude', 'codex'], dryRun: true });
    const shown = files.map(({ diff }) => diff).join('\n');
    expect(files.map(({ status }) => status)).toEqual(['changed', 'changed']);
    expect(shown).not.toContain('hunter2');
    expect(shown).not.toContain(token);
    expect(shown).toContain('"plain"');
    expect(shown).toContain('[redacted]');
    expect(JSON.stringify(files)).not.toContain('hunter2');
  });

  it('[E-4] shows of a very long line what changes in it', async () => {
    const machine = startInstall();
    const text = JSON.stringify({
      history: 'x'.repeat(5000),
      mcpServers: { a: { command: 'mem' } },
      more: 'y'.repeat(5000),
    });
    machine.write('home/.claude.json', text);
    const { diff = '' } = await machine.only({ dryRun: true });
    expect(diff).toContain('"command":"mem"');
    expect(diff).toContain('"--name", "a", "--", "mem"');
    expect(diff.length).toBeLessThan(1500);
  });
});
