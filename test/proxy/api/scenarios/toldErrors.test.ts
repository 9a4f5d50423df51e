import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureOfEvent } from '../../../../proxy/api/failedAnswer.ts';
import { type Got, startApiProxy } from '../startApiProxy.ts';

const codex = { path: '/v1/responses', headers: { 'user-agent': 'codex_exec/0.171.0 (Debian)' } };
const openai = { path: '/v1/responses' };

async function apiThat(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const streams = (text: string) =>
  apiThat((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text));

const lastData = ({ text }: Got): unknown => JSON.parse(text.trimEnd().split('data: ').at(-1) ?? '');
const begun =
  'event: response.created\ndata: {"type":"response.created"}\n\nevent: response.output_text.delta\ndata: {}\n\n';

describe('an error that is an event of a stream', () => {
  it.each([
    ['{"error":{"code":429,"message":"x"}}', 'rate_limit'],
    ['{"error":{"code":"503","message":"x"}}', 'transient'],
    ['{"error":{"code":529}}', 'overloaded'],
    ['{"error":{"status":401,"message":"x"}}', 'auth'],
    ['{"error":{"status_code":402,"message":"x"}}', 'quota'],
    ['{"status":500,"error":{"message":"x"}}', 'transient'],
    ['{"code":400,"message":"x"}', 'permanent'],
    ['{"type":"error","code":429,"message":"x"}', 'rate_limit'],
    ['{"type":"response.failed","response":{"error":{"code":429,"message":"x"}}}', 'rate_limit'],
    ['{"error":{"code":1302,"message":"x"}}', 'unknown'],
    ['{"error":{"code":200,"message":"x"}}', 'unknown'],
    ['{"error":"429 Too Many Requests"}', 'rate_limit'],
  ])('[R-5] [E-7] %s is %s', (data, kind) => {
    expect(failureOfEvent(data, 'it failed', 0, 60_000)).toMatchObject({ kind });
  });

  it.each([
    [
      'its details',
      { code: 429, details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '43s' }] },
    ],
    ['its words', { http_status: 429, detail: 'Rate limit reached, please try again in 43s' }],
  ])('[R-3] [E-7] says in %s when to ask again', (_, error) => {
    expect(failureOfEvent(JSON.stringify({ error }), 'it failed', 0, 60_000)).toMatchObject({
      kind: 'rate_limit',
      retryAfterMs: 43_000,
    });
  });

  it.each(['/v1/messages', '/v1/responses', '/v1/chat/completions', '/v1beta/models/g:streamGenerateContent'])(
    '[E-7] as the first one, without a type and with a number, is sent again: %s',
    async (path) => {
      let asked = 0;
      const upstream = await apiThat((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          asked++ === 0 ? 'data: { "error": {"code": 503, "message": "x"}}\n\n' : 'data: {"error":{"code":400}}\n\n',
        );
      });
      const { ask, of } = await startApiProxy({ upstream });
      await ask({ path }).got;
      expect(asked).toBe(2);
      expect(of('call.retried')[0]).toMatchObject({ kind: 'transient' });
      expect(of('call.failed')[0]?.failure).toMatchObject({ kind: 'permanent' });
    },
  );

  it('[E-7] of Google stands there without `data:`', async () => {
    const upstream = await streams('{\n  "error": {\n    "code": 400,\n    "message": "x"\n  }\n}\n');
    const { ask, of } = await startApiProxy({ upstream });
    const got = await ask({ path: '/v1beta/models/g:streamGenerateContent?alt=sse', body: '{}' }).got;
    expect(got).toMatchObject({ status: 200, whole: true });
    expect(of('call.failed')[0]?.failure).toMatchObject({ kind: 'permanent' });
  });

  it.each([
    ['event: error\ndata: {"type":"error","code":"server_error","message":"it broke"}\n\n', 'server_error', 'it broke'],
    ['event: error\ndata: {"type":"error","error":{"code":429,"message":"slow"}}\n\n', 'rate_limit_exceeded', 'slow'],
    ['data: {"error":{"code":402,"message":"no money"}}\n\n', 'insufficient_quota', 'no money'],
    ['data: {"error":{"message":"wrong","code":400}}\n\n', 'invalid_prompt', 'wrong'],
    ['event: error\ndata: {"type":"error","code":1302,"message":"odd"}\n\n', 'server_error', 'odd'],
  ])('[E-7] is told to Codex as response.failed, which it knows: %j', async (event, code, message) => {
    const { ask } = await startApiProxy({ upstream: await streams(begun + event) });
    const got = await ask(codex).got;
    // What the API said passes as it came.
    expect(got.text.startsWith(begun + event)).toBe(true);
    expect(lastData(got)).toMatchObject({ type: 'response.failed', response: { error: { code, message } } });
  });

  it('[E-7] as the first one is told to Codex so, too', async () => {
    const { ask } = await startApiProxy({
      upstream: await streams('event: error\ndata: {"type":"error","code":400}\n\n'),
    });
    expect(lastData(await ask(codex).got)).toMatchObject({ response: { error: { code: 'invalid_prompt' } } });
  });

  it('[E-7] of others passes as it came, and so does response.failed', async () => {
    const error = `${begun}event: error\ndata: {"type":"error","message":"x"}\n\n`;
    const failed = `${begun}event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"server_error"}}}\n\n`;
    const one = await startApiProxy({ upstream: await streams(error) });
    expect((await one.ask(openai).got).text).toBe(error);
    const other = await startApiProxy({ upstream: await streams(failed) });
    expect((await other.ask(codex).got).text).toBe(failed);
  });
});

describe('a hint that Codex would follow without a word', () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();

  it.each([
    [429, { 'retry-after': '3600' }, undefined],
    [429, { 'Retry-After': '301' }, undefined],
    [503, { 'retry-after': '3600' }, undefined],
    [529, { 'retry-after': '600' }, undefined],
    [429, { 'retry-after': inAnHour }, undefined],
  ])('[E-7] is dropped: %i with %j', async (status, headers, hint) => {
    const { ask } = await startApiProxy({ script: [{ do: 'refuse', status, headers }] });
    const got = await ask(codex).got;
    expect([got.status, got.headers['retry-after']]).toEqual([status, hint]);
    // And by what is remembered of it.
    expect((await ask(codex).got).headers).not.toHaveProperty('retry-after');
    expect((await ask(openai).got).headers).toHaveProperty('retry-after');
  });

  it('[E-7] is not made up where the money is spent', async () => {
    const { ask } = await startApiProxy({ script: [{ do: 'refuse', status: 429, error: 'insufficient_quota' }] });
    expect(await ask(codex).got).toMatchObject({ status: 429 });
    expect((await ask(codex).got).headers).not.toHaveProperty('retry-after');
  });
});
