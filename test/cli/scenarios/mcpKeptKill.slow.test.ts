import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { call } from '../startCli.ts';
import { makeHome, type McpHome } from '../startMcp.ts';
import { main } from '../startRun.ts';

const server = fileURLToPath(new URL('../../chaos/lateServer.mjs', import.meta.url));
/** Far above the limit of the proxy. */
const forever = 600_000;

/** A server of one tool by stdio or by HTTP; each run of the tool is noted. */
async function slowServer(by: 'stdio' | 'url') {
  const home = makeHome();
  const journal = join(home.directory, 'runs');
  const noted = (word: string) =>
    readFileSync(journal, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`${word} `))
      .map((line) => line.split(' ')[1] ?? '');
  onTestFinished(() => {
    for (const pid of noted('started')) if (isThere(Number(pid))) process.kill(Number(pid), 'SIGKILL');
  });
  const runs = () => noted('begun').length;
  if (by === 'stdio') return { home, runs, words: ['--', process.execPath, server, 'stdio', journal] };
  const child = spawn(process.execPath, [server, '0', journal], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { home, runs, words: ['--url', `http://127.0.0.1:${line.split(' ')[1]}/mcp`] };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** How a proxy ends: its stdin is closed, or a signal. */
type End = 'stdin' | 'SIGTERM' | 'SIGINT' | 'SIGKILL';

/** A client in front of a proxy of its own, of the same record. */
async function connect({ env, db }: McpHome, words: readonly string[]) {
  const args = [main, 'mcp', '--name', 'late', '--call-timeout', '1s', '--retry', 'never', ...words];
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args, env: env as Record<string, string>, stderr: 'ignore' },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const ends = async (how: End): Promise<void> => {
    if (how === 'stdin') return client.close();
    const closed = new Promise<void>((resolve) => (client.onclose = resolve));
    process.kill(transport.pid ?? 0, how);
    return closed;
  };
  return {
    /** Again, where the server was not there within the limit. */
    async asks(question: string) {
      for (;;) {
        const { content, isError = false } = await client.callTool({
          name: 'work',
          arguments: { question, ms: forever },
        });
        const text = content.map((each) => (each.type === 'text' ? each.text : '')).join(' ');
        if (!/not started/.test(text)) return `${isError ? 'error: ' : ''}${text}`;
      }
    },
    release: () => client.callTool({ name: 'release' }),
    /** Kills it once it is on record, which begins behind the first answer. */
    async killed() {
      await vi.waitFor(async () => {
        const { stdout } = await call(['events', '--integration', 'late', '--db', db]);
        expect(stdout).toMatch(/integration\/kept/);
      }, 20_000);
      await ends('SIGKILL');
    },
    ends,
  };
}

const kept = /make the same call again within/;
const lost = /^error: .*unwedge ended while it was kept, and what it came to is lost/;

describe.each(['stdio', 'url'] as const)(
  'a call that is kept as kill -9 ends the proxy, before a server by %s',
  (by) => {
    it('[R-18] is answered unknown to the first equal call of the next start, and not made; the one after it is made', async () => {
      const { home, runs, words } = await slowServer(by);
      const first = await connect(home, words);
      expect(await first.asks('one')).toMatch(kept);
      await first.killed();
      const second = await connect(home, words);
      expect(await second.asks('one')).toMatch(lost);
      await expect.poll(runs, { timeout: 20_000 }).toBe(1);
      expect(await second.asks('two')).toMatch(kept);
      expect(await second.asks('one')).toMatch(kept);
      await expect.poll(runs, { timeout: 20_000 }).toBe(3);
    });

    it('[R-18] is told once, whichever proxy of the record is asked, and not again after another kill', async () => {
      const { home, runs, words } = await slowServer(by);
      const first = await connect(home, words);
      expect(await first.asks('one')).toMatch(kept);
      await first.killed();
      const second = await connect(home, words);
      expect(await second.asks('one')).toMatch(lost);
      await second.killed();
      const third = await connect(home, words);
      expect(await third.asks('one')).toMatch(kept);
      await expect.poll(runs, { timeout: 20_000 }).toBe(2);
    });

    it('[R-18] whose late answer was given before the kill is made again', async () => {
      const { home, runs, words } = await slowServer(by);
      const first = await connect(home, words);
      expect(await first.asks('one')).toMatch(kept);
      const joined = first.asks('one');
      await first.release();
      expect(await joined).toMatch(/the same call was made/);
      await expect.poll(runs, { timeout: 20_000 }).toBe(1);
      await first.killed();
      const second = await connect(home, words);
      expect(await second.asks('one')).toMatch(kept);
      await expect.poll(runs, { timeout: 20_000 }).toBe(2);
    });

    it('[R-18] of another proxy that lives is none of its business', async () => {
      const { home, runs, words } = await slowServer(by);
      const first = await connect(home, words);
      expect(await first.asks('one')).toMatch(kept);
      const other = await connect(home, words);
      expect(await other.asks('one')).toMatch(kept);
      await expect.poll(runs, { timeout: 20_000 }).toBe(2);
    });
  },
);

describe.each(['stdin', 'SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
  'a call that is kept, whose proxy ends by %s as soon as that is told',
  (how) => {
    it('[R-18] is answered unknown by the next start, once, and not made', async () => {
      const { home, runs, words } = await slowServer('stdio');
      const first = await connect(home, words);
      expect(await first.asks('one')).toMatch(kept);
      await first.ends(how);
      const second = await connect(home, words);
      expect(await second.asks('one')).toMatch(lost);
      await expect.poll(runs, { timeout: 20_000 }).toBe(1);
      expect(await second.asks('one')).toMatch(kept);
      await expect.poll(runs, { timeout: 20_000 }).toBe(2);
    });
  },
);

describe('a call that is kept without a record', () => {
  it('[R-18] is promised for as long as its proxy runs', async () => {
    const { home, words } = await slowServer('stdio');
    const client = await connect({ ...home, env: { ...home.env, UNWEDGE_DB: ':memory:' } }, words);
    expect(await client.asks('one')).toMatch(/not done a second time, unless unwedge ends before/);
  });
});
