import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { processesWith } from '../cli/startHook.ts';
import { setup } from '../globalSetup.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv, claudePath, hasClaude } from './claudeEnv.ts';
import { hasCodex } from './codexEnv.ts';
import { busy, startBothAgents, threeServers, unwedge } from './startBothAgents.ts';

const seconds = { timeout: 60_000 };
/** The entry that both agents have for it. */
const name = 'ev';

/** Resolves with the pid of the server of the moment once it has read the call. */
async function serverBusyWith(home: string): Promise<number> {
  const heard = join(home, 'heard');
  const read = (): string => (existsSync(heard) ? readFileSync(heard, 'utf8') : '');
  await vi.waitUntil(() => read().includes(`"name":"${busy}"`), seconds);
  return Number(/.*pid (\d+)\n/s.exec(read())?.[1]);
}

/** Ends the server in the middle of the call that an agent makes; `why` tells of the call before and after. */
async function killMidCall({ home, unwedge }: Awaited<ReturnType<typeof startBothAgents>>): Promise<void> {
  const why = async () => (await unwedge('why', name)).stdout;
  const pid = await serverBusyWith(home);
  // The proxy enters itself in the store beside its work.
  const begun = `${busy} .* in flight[^]*process ${pid} runs\n[^]*Next: the server of [^]*is asked whether it lives`;
  await vi.waitUntil(async () => new RegExp(begun).test(await why()), seconds);
  process.kill(pid, 'SIGKILL');
  expect(await vi.waitUntil(async () => /attempt 2 [^]*/.exec(await why())?.[0], seconds)).toMatch(
    /last attempt: crash: The server was ended by SIGKILL\n[^]*process \d+ runs\nNext: the server of [^]*is asked whether it lives/,
  );
}

describe.skipIf(!hasClaude || !hasCodex)('unwedge install with the real claude and codex', () => {
  beforeAll(setup);

  it('[E-4] [E-2] has doctor content, both agents go on when a server is killed, and all files back', async () => {
    const agents = await startBothAgents();
    const { home, texts, unwedge, read } = agents;
    const fine = { code: 0, stderr: '' };
    const heard = join(home, 'heard');
    const allGone = () => vi.waitUntil(() => processesWith(`MCP_SPY=${heard}`).length === 0, seconds);

    const before = agents.list();
    const planned = await unwedge('install', '--all', '--dry-run');
    expect(planned).toMatchObject(fine);
    expect(planned.stdout).toContain('Would change 6 servers and 1 hook in 3 files. Nothing was written.');
    expect([read(), agents.list()]).toEqual([texts, before]);

    // Before Claude Code runs: it writes anew what it keeps in ~/.claude.json, so no later text of that file is this one.
    expect(await unwedge('install', '--all')).toMatchObject(fine);
    expect(await unwedge('install', '--all', '--undo')).toMatchObject(fine);
    expect(read()).toEqual(texts);

    const made = await unwedge('install', '--all');
    expect(made).toMatchObject(fine);
    expect(made.stdout).toContain('Codex would not run it before you trust it anew');
    const wrapped = read();
    expect((await unwedge('doctor')).stdout).toContain('\n0 broken, ');
    const { stdout: ofClaude } = await agents.startClaude('mcp', 'list');
    const { stdout: ofCodex } = await agents.startCodex('mcp', 'list');
    for (const server of ['ev', 'files', 'mem']) {
      expect(ofClaude).toMatch(new RegExp(`^${server}: .* mcp --name ${server} -- .*Connected`, 'm'));
      expect(ofCodex).toMatch(new RegExp(`^${server} .* mcp --name ${server} -- .* enabled `, 'm'));
    }

    writeFileSync(heard, '');
    const outcome = agents.promptClaude();
    await killMidCall(agents);
    expect(await outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(agents.heardByClaude()).toContain('Long running operation completed');
    expect(readFileSync(agents.log, 'utf8')).toMatch(/"hook_event_name":"PreToolUse"[^]*it's .*sh\n$/);
    await allGone();

    writeFileSync(heard, '');
    const run = agents.startCodex('exec', '--skip-git-repo-check', 'do it');
    await killMidCall(agents);
    expect((await run).stdout).toContain('done');
    expect(agents.heardByCodex()).toContain('Long running operation completed');
    await allGone();

    // Nobody is left to be asked: it says what is on record.
    expect((await unwedge('why', name)).stdout).toContain('no running gateway or proxy has it');
    const { stdout: status } = await unwedge('status');
    expect(status).toMatch(/^ev +closed .* 2 +2 +\d+s ago: crash: The server was ended by SIGKILL$/m);
    for (const server of ['files', 'mem']) expect(status).toMatch(new RegExp(`^${server} +closed `, 'm'));

    const left = read();
    expect(left).toEqual({ ...wrapped, '.claude.json': left['.claude.json'] });
    expect(await unwedge('install', '--all', '--undo')).toMatchObject(fine);
    // To the byte what Claude Code left, with the servers as they were.
    const own = { ...(JSON.parse(left['.claude.json'] ?? '') as object), mcpServers: threeServers(home) };
    expect(Object.keys(own).length).toBeGreaterThan(2);
    expect(read()).toEqual({ ...texts, '.claude.json': JSON.stringify(own, null, 2) });
  });
});

describe.skipIf(!hasClaude)('unwedge install with the real claude', () => {
  beforeAll(setup);

  it('[E-4] does not get into the way of what claude writes meanwhile', async () => {
    const home = temporaryDirectory();
    const env = claudeEnv(home, 'http://127.0.0.1:9');
    const config = join(home, '.claude.json');
    writeFileSync(config, JSON.stringify({ mcpServers: threeServers(home) }));
    const add = (name: string) =>
      execa(claudePath, ['mcp', 'add', '-s', 'user', name, '--', 'true'], {
        cwd: home,
        env,
        extendEnv: false,
        reject: false,
      });
    const results = await Promise.all([
      add('one'),
      unwedge(home, 'install', 'claude'),
      add('two'),
      unwedge(home, 'install', 'claude'),
    ]);
    expect(
      results.map((each) => ('code' in each && 'stderr' in each && !('exitCode' in each) ? each.code : 0)),
    ).toEqual([0, 0, 0, 0]);
    const { mcpServers } = JSON.parse(readFileSync(config, 'utf8')) as {
      mcpServers: Record<string, { args: string[] }>;
    };
    expect(Object.keys(mcpServers).sort()).toEqual(['ev', 'files', 'mem', 'one', 'two']);
    expect(mcpServers['ev']?.args.slice(1, 5)).toEqual(['mcp', '--name', 'ev', '--']);
    expect(existsSync(`${config}.lock`)).toBe(false);
    await unwedge(home, 'install', 'claude', '--undo');
    expect(JSON.parse(readFileSync(config, 'utf8'))).toMatchObject({ mcpServers: threeServers(home) });
  });
});
