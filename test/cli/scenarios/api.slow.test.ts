import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientLines } from '../../../cli/api/apiCommand.ts';
import { faultyModelApi, type ModelAnswer } from '../../../testing/index.ts';
import { ask } from '../../proxy/api/startApiProxy.ts';
import { call, runHere } from '../startCli.ts';
import { parseOpenMetrics } from '../../support/openMetrics.ts';
import { makeHome } from '../startMcp.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** `unwedge api` as a process of its own, before a model API that answers by a script. */
async function startApi(script: readonly ModelAnswer[], words: readonly string[] = [], extra: NodeJS.ProcessEnv = {}) {
  const model = await faultyModelApi(script);
  const home = makeHome();
  const child = spawn(process.execPath, [main, 'api', '--upstream', model.url, '--name', 'model', ...words], {
    env: { ...home.env, ...extra },
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

  it('[E-7] says what to set in those clients alone that the API is for, where that is known', () => {
    const named = (upstream: string) => clientLines('http://127.0.0.1:1', upstream).map(({ client }) => client);
    expect(named('https://api.anthropic.com/')).toEqual(['Claude Code', 'Anthropic SDK']);
    expect(named('https://eu.api.openai.com/v1')).toEqual(['Codex', 'Codex, in config.toml', 'OpenAI SDK, AI SDK']);
    expect(named('https://notanthropic.com')).toHaveLength(5);
  });

  it('[E-7] asks an API over TLS whose certificate Node is told of, and no other one', async () => {
    const pem = fileURLToPath(new URL('../../fixtures/selfSigned.pem', import.meta.url));
    const upstream = createServer({ key: readFileSync(pem), cert: readFileSync(pem) }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"over":"tls"}');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      upstream.close();
      upstream.closeAllConnections();
    });
    const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    // Of two that name an upstream the last one holds.
    const words = ['--upstream', `https://${host}`];
    const trusting = await startApi([{}], words, { NODE_EXTRA_CA_CERTS: pem });
    expect(await ask(trusting.origin).got).toMatchObject({ status: 200, text: '{"over":"tls"}' });
    const wary = await startApi([{}], words);
    const got = await ask(wary.origin).got;
    expect(got).toMatchObject({ status: 502, headers: { 'x-should-retry': 'false' } });
    expect(got.text).toContain(`${host} cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)`);
    expect(wary.stderr()).toBe(`unwedge: ${host} cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)\n`);
  });

  it('[E-7] says once that the API cannot be reached, however many requests meet that', async () => {
    const { origin, model, stderr, child, exited } = await startApi([{}], ['--budget', '1s']);
    const { host } = new URL(model.url);
    await model.close();
    const all = await Promise.all(Array.from({ length: 5 }, () => ask(origin).got));
    expect(all.map(({ status }) => status)).toEqual(Array(5).fill(503));
    expect(all[0]?.text).toContain(`${host} cannot be reached (ECONNREFUSED)`);
    child.kill('SIGTERM');
    await exited;
    expect(stderr()).toBe(`unwedge: ${host} cannot be reached (ECONNREFUSED)\n`);
  });

  it('[E-7] [L-4] is shown by status and events, and can be restarted', async () => {
    const { origin, env, model, home } = await startApi([{ do: 'refuse', status: 400 }, {}], ['--json']);
    expect((await ask(origin).got).status).toBe(400);
    const status = async () => (await runHere(['status', '--tree'], env)).stdout;
    await expect.poll(status).toContain('model/faulty-1#');
    const events = async () => (await runHere(['events'], env)).stdout;
    await expect.poll(events).toContain('HTTP 400 (invalid_request_error)');
    expect((await runHere(['restart', 'model'], env)).code).toBe(0);
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
    [['--upstream', 'api.example'], '`--upstream` to be an address such as https://api.example'],
    [['--upstream', 'api.example'], 'got "api.example"; did you mean https://api.example?'],
    [['--upstream', 'localhost:8080/v1'], 'did you mean https://localhost:8080/v1?'],
    [['--upstream', 'ftp://api.example'], 'got "ftp://api.example"\n'],
    [['--upstream', 'https://user:secret@api.example'], '`--upstream`'],
    [['--upstream', 'api.example?key=secret'], 'a string that is not shown'],
    [['--upstream', 'sk-secret-0f3a'], 'a string that is not shown'],
    [
      ['--upstream', 'https://api.example/v1', '--fallback', 'https://API.example:443/v1/'],
      '`--fallback` to be another address than `--upstream`',
    ],
    [['--upstream', 'https://api.example', '--budget', '0s'], '`--budget`'],
    [['--upstream', 'https://api.example', '--headers-timeout', '0s'], '`--headers-timeout`'],
    [['--upstream', 'https://api.example', '--content-timeout', '0s'], '`--content-timeout`'],
    [['--upstream', 'https://api.example', '--whole-timeout', '0s'], '`--whole-timeout`'],
    [['--upstream', 'https://api.example', '--spinning', 'loud'], '`--spinning`'],
    [['--upstream', 'https://api.example', '--port', '70000'], '--port'],
    [['--upstream', 'https://api.example', '--idle-timeout', '0s'], '`--idle-timeout`'],
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

describe('GET /metrics of unwedge api', () => {
  it('[O-12] tells of its own requests, and nothing of their keys', async () => {
    const { origin } = await startApi([{}]);
    await ask(origin).got;
    const headers = { accept: 'application/openmetrics-text' };
    const text = await (await fetch(`${origin}/metrics`, { headers })).text();
    const { unwedge_calls: calls } = parseOpenMetrics(text);
    const [bucket] = calls?.samples ?? [];
    expect(bucket).toMatchObject({
      labels: { integration: expect.stringMatching(/^model\//) as string, result: 'success' },
    });
    expect(text).not.toContain('key-one');
  });

  it('[O-12] is not for pages of other sites', async () => {
    const { origin } = await startApi([{}]);
    expect((await fetch(`${origin}/metrics`, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });
});
