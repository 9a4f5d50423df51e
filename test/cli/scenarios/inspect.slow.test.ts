import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { databaseWith, runBuilt } from '../startCli.ts';
import { main } from '../startRun.ts';

const fixture = fileURLToPath(new URL('../../fixtures/gateway.mjs', import.meta.url));

interface Home {
  readonly db: string;
  readonly env: NodeJS.ProcessEnv;
}

function makeHome(): Home {
  const home = temporaryDirectory();
  return { db: join(home, 'events.sqlite'), env: { ...process.env, XDG_RUNTIME_DIR: home } };
}

/** A process that is over when the test is. */
function start(words: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  return { child, ended };
}

async function startGateway({ db, env }: Home): Promise<ChildProcess> {
  const { child } = start([fixture, db], env);
  await once(child.stdout, 'data');
  return child;
}

/** `unwedge inspect`, up to the address it prints. */
async function startInspect({ db, env }: Home, ...words: string[]) {
  const { child, ended } = start([main, 'inspect', '--db', db, ...words], env);
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  while (!said.includes('token=')) await once(child.stdout, 'data');
  const url = /http:\/\/[^\s"]+/.exec(said)?.[0] ?? '';
  return { child, ended, said, url, events: url.replace('/?', '/events?') };
}

/** What comes of an event stream up to a text; at another one before that something is done. */
async function read(url: string, upTo: string, at?: { text: string; act: () => unknown }): Promise<string> {
  const controller = new AbortController();
  const response = await fetch(url, { signal: controller.signal });
  let text = '';
  let pending = at;
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (pending !== undefined && text.includes(pending.text)) {
      pending.act();
      pending = undefined;
    }
    if (text.includes(upTo)) break;
  }
  controller.abort();
  return text;
}

describe.skipIf(!hasSqlite)('unwedge inspect', () => {
  it('[O-6] shows the machines of a gateway in another process to who has the token', async () => {
    const home = makeHome();
    const gateway = await startGateway(home);
    const { said, url, events } = await startInspect(home);
    expect(said).toMatch(
      new RegExp(`^gateway.mjs \\(pid ${gateway.pid}, started .*\\): http://127.0.0.1:\\d+/\\?token=\\S+\\n$`),
    );
    expect(await (await fetch(url)).text()).toContain('<title>unwedge inspect</title>');
    const frames = await read(events, 'integration:limited');
    expect(frames).toContain(`{"type":"unwedge.hello","name":"gateway.mjs","pid":${gateway.pid}}`);
    expect(frames).toMatch(/"name":"integration:flaky","parentId":"[^"]+".*"value":"open"/);
    expect((await fetch(url.replace(/token=.*/, 'token=wrong'))).status).toBe(403);
    expect((await fetch(url, { headers: { Origin: 'http://evil.test' } })).status).toBe(403);
  });

  it('[O-6] [V-9] shows the machine of a session that slept once it is woken, to who looks and to who comes', async () => {
    const home = makeHome();
    await startGateway(home);
    const { events } = await startInspect(home);
    expect((await runBuilt(['status', '--tree', '--db', home.db])).stdout).toMatch(/session:agent:main +asleep/);
    let woken: ReturnType<typeof runBuilt> | undefined;
    const wake = () => (woken = runBuilt(['restart', 'agent:main', '--db', home.db]));
    const frames = await read(events, '"name":"session:agent:main"', { text: 'integration:limited', act: wake });
    expect(frames).toContain('"name":"integration:flaky"');
    expect((await woken)?.code).toBe(0);
    expect(await read(events, 'session:agent:main')).toContain('"name":"session:agent:main"');
  });

  it('[O-6] ends with the gateway, and tells who looks', async () => {
    const home = makeHome();
    const gateway = await startGateway(home);
    const { ended, events } = await startInspect(home);
    const looking = read(events, 'unwedge.end');
    await read(events, 'integration:limited');
    gateway.kill('SIGTERM');
    expect(await looking).toContain('unwedge.end');
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/\nunwedge: gateway.mjs \(pid \d+, started .*\) has stopped\.\n$/);
  });

  it('[O-6] ends on Ctrl-C, and leaves the gateway alone', async () => {
    const home = makeHome();
    const gateway = await startGateway(home);
    const { child, ended, events } = await startInspect(home);
    const looking = read(events, 'never').catch(() => 'cut off');
    await read(events, 'integration:limited');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    await looking;
    expect(gateway.exitCode).toBeNull();
    expect((await runBuilt(['status', '--tree', '--db', home.db])).code).toBe(0);
  });

  it('[O-6] prints where the page and the official frames are as data', async () => {
    const home = makeHome();
    const gateway = await startGateway(home);
    const { child, said } = await startInspect(home, '--json');
    let text = said;
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    while (!text.endsWith('}\n')) await once(child.stdout, 'data');
    expect(JSON.parse(text)).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?token=/) as string,
      webSocketUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/ws\?token=/) as string,
      stately: false,
      runtime: { pid: gateway.pid },
    });
  });

  it('[O-6] shows the official page only when told to, and says that data goes to a third party', async () => {
    const home = makeHome();
    await startGateway(home);
    const { child, ended, url } = await startInspect(home, '--stately');
    expect((await fetch(url)).headers.get('content-security-policy')).toContain('frame-src https://stately.ai');
    child.kill('SIGINT');
    expect((await ended).stderr).toContain('goes to https://stately.ai/inspect, a third party, once you agree');
  });

  it('[O-6] watches the one of several gateways that it is told to', async () => {
    const home = makeHome();
    const gateways = [await startGateway(home), await startGateway(home)];
    const several = await runBuilt(['inspect', '--db', home.db]);
    expect(several).toMatchObject({ code: 1, stdout: '' });
    expect(several.stderr).toMatch(
      /^unwedge: 2 live runtimes: gateway\.mjs .*, gateway\.mjs .*\. Choose with --attach PID\.\n$/,
    );
    const { said } = await startInspect(home, '--attach', String(gateways[1]?.pid));
    expect(said).toContain(`(pid ${gateways[1]?.pid},`);
    const unknown = await runBuilt(['inspect', '--db', home.db, '--attach', 'other.mjs']);
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toMatch(/^unwedge: No live runtime is "other\.mjs"; there is gateway\.mjs .*\n$/);
  });

  it('[O-6] listens on the port it is told, and says so when that is taken', async () => {
    const home = makeHome();
    await startGateway(home);
    const { port } = new URL((await startInspect(home)).url);
    const { code, stdout, stderr } = await runBuilt(['inspect', '--db', home.db, '--port', port]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^unwedge: Cannot listen on port ${port}: [^\\n]*EADDRINUSE[^\\n]*\\n$`));
  });

  it('[L-5] says in one line that no gateway runs', async () => {
    const db = await databaseWith();
    const { code, stdout, stderr } = await runBuilt(['inspect', '--db', db]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`unwedge: No live runtime answers for ${db}; there is nothing to watch.\n`);
  });
});
