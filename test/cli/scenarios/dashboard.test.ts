import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasSqlite } from '../../store/startStore.ts';
import { databaseWith, runBuilt } from '../startCli.ts';
import { main } from '../startRun.ts';

describe.skipIf(!hasSqlite)('unwedge dashboard', () => {
  it('[O-13] [L-6] prints an address that opens the page once, the next one when it was used, and ends on Ctrl-C', async () => {
    const db = await databaseWith();
    const child = spawn(process.execPath, [main, 'dashboard', '--db', db], { stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    let said = '';
    let told = '';
    child.stdout.on('data', (chunk) => (said += String(chunk)));
    child.stderr.on('data', (chunk) => (told += String(chunk)));
    await expect.poll(() => said).toMatch(/:\nhttp:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{24}\n$/);
    const url = new URL(/http:\S+/.exec(said)?.[0] ?? '');
    expect(await (await fetch(url)).text()).toContain('<title>unwedge dashboard</title>');
    const login = () =>
      fetch(new URL('/login', url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token: url.hash.replace('#token=', '') }),
      });
    const { headers } = await login();
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const snapshot = await fetch(new URL('/api/snapshot', url), { headers: { cookie } });
    expect(await snapshot.json()).toMatchObject({ database: db, waits: [], runtimes: [] });
    const wrong = await fetch(new URL('/api/events?limit=abc', url), { headers: { cookie } });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { parameter: 'limit', value: 'abc' }]);
    const unknown = await fetch(new URL('/api/incident', url), {
      ...{ method: 'POST', headers: { cookie, 'Content-Type': 'application/json' }, body: '{"id":"nobody"}' },
    });
    expect([unknown.status, await unknown.text()]).toEqual([400, expect.stringContaining('nobody')]);
    expect((await login()).status).toBe(403);
    await expect.poll(() => told).toMatch(/the address was used; for another browser:\nhttp:\S+#token=[\w-]{24}\n/);
    expect(told).not.toContain(url.hash);
    child.kill('SIGINT');
    expect((await exited)[0]).toBe(130);
  });

  it('[O-13] [L-1] says at once what it cannot read', async () => {
    const { code, stderr } = await runBuilt(['dashboard', '--db', '/nonexistent/gateway.sqlite']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('/nonexistent/gateway.sqlite')]);
  });
});
