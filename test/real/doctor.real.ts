import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import { runBuilt } from '../cli/startCli.ts';
import { main } from '../cli/startRun.ts';
import { setup } from '../globalSetup.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv, claudePath, hasClaude } from './claudeEnv.ts';
import { hasCodex } from './codexEnv.ts';
import { responds } from './fakeOpenai.ts';
import { startRealCodex } from './startRealCodex.ts';

interface Listed {
  readonly data: readonly {
    readonly hooks: readonly { readonly currentHash: string; readonly trustStatus: string }[];
  }[];
}

interface Told {
  readonly findings: readonly { readonly id: string; readonly summary: string }[];
}

describe.skipIf(!hasCodex)('unwedge doctor with the real codex', () => {
  beforeAll(setup);

  it('[E-2] finds the hook that Codex trusts no longer, and no other', async () => {
    const { codex, home, cwd } = await startRealCodex([responds('done')]);
    const config = join(home, 'config.toml');
    const hooks = async () => {
      const outcome = await codex.request('hooks/list', { cwds: [cwd] });
      if (!outcome.ok) throw new Error(outcome.failure.message);
      return (outcome.value as unknown as Listed).data[0]?.hooks ?? [];
    };
    const unwedge = (...words: string[]) =>
      runBuilt(words, { HOME: home, CODEX_HOME: home, PATH: process.env['PATH'] ?? '' });
    const untrusted = async () => {
      const { findings } = JSON.parse((await unwedge('doctor', '--json')).stdout) as Told;
      return findings.filter(({ id }) => id === 'agent.trust').length;
    };
    appendFileSync(
      config,
      `[[hooks.PreToolUse]]
matcher = "Bash"
hooks = [{ type = "command", command = "echo 'it is'", timeout = 20, statusMessage = "asking" }]
[[hooks.Stop]]
matcher = "of no use"
hooks = [{ type = "command", command = "true" }]
`,
    );
    const [first, second] = await hooks();
    const keys = ['pre_tool_use', 'stop'].map((event) => `${config}:${event}:0:0`);
    for (const [index, hook] of [first, second].entries())
      appendFileSync(config, `[hooks.state."${keys[index]}"]\ntrusted_hash = "${hook?.currentHash}"\n`);
    const trust = async () => (await hooks()).map(({ trustStatus }) => trustStatus);
    expect([await trust(), await untrusted()]).toEqual([['trusted', 'trusted'], 0]);
    expect(await unwedge('install', 'codex', '--codex-hooks')).toMatchObject({ code: 0 });
    expect([await trust(), await untrusted()]).toEqual([['modified', 'modified'], 2]);
    expect(await unwedge('install', 'codex', '--undo')).toMatchObject({ code: 0 });
    expect([await trust(), await untrusted()]).toEqual([['trusted', 'trusted'], 0]);
  });
});

describe.skipIf(!hasClaude)('unwedge doctor with the real claude', () => {
  beforeAll(setup);

  it('[E-2] finds the servers that Claude Code itself does not start', async () => {
    const home = temporaryDirectory();
    const cwd = join(home, 'work');
    for (const folder of [join(cwd, '.git'), join(home, '.claude')]) mkdirSync(folder, { recursive: true });
    const env = claudeEnv(home, 'http://127.0.0.1:9');
    const at = { command: 'true' };
    const write = (path: string, value: object) => writeFileSync(join(home, path), JSON.stringify(value));
    write('.claude.json', { hasCompletedOnboarding: true, mcpServers: { banned: at, fine: at } });
    write('.claude/settings.json', {
      deniedMcpServers: [{ serverName: 'banned' }],
      enabledMcpjsonServers: ['agreed'],
      disabledMcpjsonServers: ['refused'],
    });
    write('work/.mcp.json', { mcpServers: { pending: at, agreed: at, refused: at } });
    const options = { cwd, extendEnv: false, reject: false } as const;
    const { stdout: list } = await execa(claudePath, ['mcp', 'list'], { ...options, env });
    expect(list).toMatch(/^fine: /m);
    expect(list).toMatch(/^agreed: /m);
    expect(list).not.toMatch(/^(?:banned|refused): /m);
    expect(list).toMatch(/^pending: .*Pending approval/m);
    const { stdout } = await execa(process.execPath, [main, 'doctor', '--json'], {
      ...options,
      env: { ...env, ANTHROPIC_BASE_URL: '' },
    });
    const found = (JSON.parse(stdout) as Told).findings.filter(({ id }) => /^agent\.(?:denied|unapproved)$/.test(id));
    expect(found.map(({ id, summary }) => `${id} ${summary.split(' ', 1)[0]}`)).toEqual([
      'agent.denied banned',
      'agent.unapproved pending',
    ]);
  });
});
