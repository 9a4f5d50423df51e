import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyModelApi, type ModelAnswer } from '../../../src/testing/index.ts';
import { ask } from '../../apiProxy/startApiProxy.ts';
import { call, runBuilt } from '../startCli.ts';
import { makeHome } from '../startMcp.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** `unwedge api` as a process of its own, before a model API that answers by a script. */
async function startApi(script: readonly ModelAnswer[], words: readonly string[] = []) {
  const model = await faultyModelApi(script);
  const home = makeHome();
  const child = spawn(process.execPath, [main, 'api', '--upstream', model.url, '--name', 'model', ...words], {
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    await model.close();
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const origin = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0];
      if (found !== undefined && stdout.endsWith('\n')) resolve(found);
    });
  });
  const env = { ...home.env } as Record<string, string>;
  return { model, home, child, exited, origin, env, stdout: () => stdout, stderr: () => stderr };
}

describe('unwedge api', () => {
  it('[E-7] says where it listens, and what to set in each client', async () => {
    const { origin, stdout } = await startApi([{}]);
    expect(stdout()).toMatch(/^model is at http:\/\/127\.0\.0\.1:\d+\n/);
    expect(stdout()).toContain(`ANTHROPIC_BASE_URL=${origin} claude`);
    expect(stdout()).toContain(`codex -c openai_base_url='"${origin}/v1"'`);
    expect(stdout()).toContain('supports_websockets = false');
    expect(stdout()).toContain(`baseURL: '${origin}/v1'`);
  });

  it('[E-7] [L-4] is shown by status and events, and can be restarted', async () => {
    const { origin, env, model, home } = await startApi([{ do: 'refuse', status: 400 }, {}], ['--json']);
    expect((await ask(origin).got).status).toBe(400);
    const status = async () => (await runBuilt(['status', '--tree'], env)).stdout;
    await expect.poll(status).toContain('model/faulty-1#');
    const events = async () => (await runBuilt(['events'], env)).stdout;
    await expect.poll(events).toContain('HTTP 400 (invalid_request_error)');
    expect((await runBuilt(['restart', 'model'], env)).code).toBe(0);
    expect((await ask(origin).got).status).toBe(200);
    expect(model.requests).toHaveLength(2);
    expect(readFileSync(home.db).includes('key-one')).toBe(false);
  });

  it('[E-7] lets an answer end when it is told to stop, takes nothing new, and cuts what is left', async () => {
    const { origin, child, exited, stderr } = await startApi(
      [{ dripMs: 20 }, { until: 'text', then: 'stall' }],
      ['--drain', '1s'],
    );
    const slow = ask(origin);
    await slow.saw('Hello');
    const stalled = ask(origin, { path: '/v1/chat/completions' });
    await stalled.saw('Hello');
    child.kill('SIGTERM');
    expect((await slow.got).text).toContain('message_stop');
    expect((await stalled.got).text).toContain('stream_broken');
    await expect(ask(origin).got).rejects.toThrow(/ECONNREFUSED/);
    expect(await exited).toEqual([143, null]);
    expect(stderr()).toBe('');
  });

  it.each([
    [[], 'No upstream given'],
    [['--upstream', 'api.example'], '`upstream`'],
    [['--upstream', 'https://user:secret@api.example'], '`upstream`'],
    [['--upstream', 'https://api.example', '--port', '70000'], '--port'],
    [['--upstream', 'https://api.example', '--idle-timeout', '0s'], '`bytesMs`'],
    [['--upstream', 'https://api.example', '--fallback-key', 'NONE'], '--fallback'],
    [['--upstream', 'https://api.example', '--fallback', 'https://b.example', '--fallback-key', 'NONE'], 'NONE'],
    [['--upstream', 'https://api.example', '--fallback', 'https://b.example'], '--fallback-key NAME'],
    [['--upstream', 'https://api.example', '--fallback', 'http://api.example'], '--fallback-client-key'],
    [
      ['--upstream', 'https://api.example', '--fallback', 'b', '--fallback-key', 'PATH', '--fallback-client-key'],
      'exclude each other',
    ],
  ])('[E-7] says what is wrong with %j', async (words, told) => {
    const { code, stderr } = await call(['api', ...words], { env: { UNWEDGE_DB: ':memory:' } });
    expect(code).toBe(2);
    expect(stderr).toContain(told);
    expect(stderr).not.toContain('secret');
  });
});
