import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ModelAnswer } from '../../../../testing/index.ts';
import { type Got, startApiProxy } from '../startApiProxy.ts';

const claude = { path: '/v1/messages?beta=true', headers: { 'user-agent': 'claude-cli/2.1.330 (external, sdk-cli)' } };
const codex = { path: '/v1/responses', headers: { 'user-agent': 'codex_exec/0.169.0 (Debian)' } };
const anthropic = { path: '/v1/messages' };
const openai = { path: '/v1/responses' };
const chat = { path: '/v1/chat/completions' };

/** The data of the last event of a stream. */
const lastData = ({ text }: Got): unknown => JSON.parse(text.trimEnd().split('data: ').at(-1) ?? '');

describe('a stream that breaks after some of it was passed', () => {
  const breaks: readonly (readonly [string, ModelAnswer])[] = [
    ['a reset', { until: 'text', then: 'reset' }],
    ['a closed connection', { until: 'text', then: 'close' }],
    ['a clean end without the last event', { until: 'text', then: 'end' }],
    ['a reset in a tool_use', { tool: { name: 'Bash', input: { command: 'date' } }, until: 'tool', then: 'reset' }],
  ];

  it.each(breaks)('[E-7] %s: the connection of Claude Code is cut', async (_, answer) => {
    const { ask, api, of } = await startApiProxy({ script: [answer, {}] });
    const got = await ask(claude).got;
    expect(got).toMatchObject({ status: 200, whole: false });
    expect(got.text).toContain('content_block_delta');
    expect(got.text).not.toMatch(/event: error|message_stop/);
    expect(api.requests).toHaveLength(1);
    expect(of('call.failed')[0]?.failure).toMatchObject({ kind: 'transient' });
  });

  it.each(breaks)('[E-7] %s: Codex is told response.failed with server_error', async (_, answer) => {
    const { ask } = await startApiProxy({ script: [answer] });
    const got = await ask(codex).got;
    expect(got.text).toMatch(/\n\nevent: response\.failed\ndata: /);
    expect(lastData(got)).toMatchObject({ type: 'response.failed', response: { error: { code: 'server_error' } } });
  });

  it('[E-7] the SDKs get an error event in the form of their API', async () => {
    const { ask } = await startApiProxy({ script: [{ until: 'text', then: 'close' }] });
    expect(lastData(await ask(anthropic).got)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    expect(lastData(await ask(openai).got)).toMatchObject({ type: 'response.failed' });
    expect(lastData(await ask(chat).got)).toMatchObject({ error: { type: 'server_error', code: 'stream_broken' } });
  });

  it.each([claude, codex, anthropic, openai, chat])(
    '[E-7] cut in the middle of an event it is never ended in good order: %j',
    async (asked) => {
      const { ask } = await startApiProxy({ script: [{ until: 'event', then: 'reset' }] });
      const got = await ask(asked).got;
      expect(got.whole).toBe(false);
      expect(got.text).not.toMatch(/event: error|response\.failed|stream_broken/);
    },
  );

  it.each([
    [claude, false],
    [codex, true],
    [anthropic, true],
    [openai, true],
    [chat, true],
  ])('[E-7] silence for 90 s ends it: %j', async (asked, whole) => {
    const { ask, clock, api, of } = await startApiProxy({ script: [{ until: 'text', then: 'stall' }] });
    clock.stop();
    const asking = ask(asked);
    await asking.saw('Hello');
    clock.skip(90_000);
    const got = await asking.got;
    expect(got.whole).toBe(whole);
    expect(got.text.includes('sent nothing for 1m30s')).toBe(whole);
    await api.aborted(1);
    expect(of('call.failed')[0]?.failure).toMatchObject({ kind: 'timeout', reason: 'idle_timeout' });
  });

  it.each([claude, codex, chat])('[E-7] pings alone for 5 min end it: %j', async (asked) => {
    const { ask, clock, told } = await startApiProxy({ script: [{ until: 'text', then: 'pings', pingMs: 1 }] });
    clock.stop();
    const asking = ask(asked);
    await asking.saw(asked === claude ? 'event: ping' : 'keepalive');
    for (let pings = 1; pings <= 11; pings++) {
      await asking.saw(asked === claude ? 'event: ping' : 'keepalive', pings * 5);
      clock.skip(30_000);
    }
    expect((await told('call.failed')).failure).toMatchObject({
      kind: 'timeout',
      message: expect.stringMatching(/ for 5m$/) as string,
    });
    await asking.got;
  });

  const empty: readonly (readonly [string, { readonly path: string }, string, string])[] = [
    [
      'Messages',
      anthropic,
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
    ],
    [
      'Responses',
      openai,
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":""}\n\n',
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
    ],
    [
      'Chat Completions',
      chat,
      'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n',
    ],
  ];

  it.each(empty)(
    '[E-7] [R-13] %s: an empty delta is no content, for 10 min before the first and for 5 after it',
    async (_, asked, nothing, word) => {
      const answers: ServerResponse[] = [];
      const upstream = createServer((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // More than is held back for another attempt, so that it can be seen here.
        response.write(nothing.repeat(1000));
        answers.push(response);
      });
      await new Promise<void>((resolve) => {
        upstream.listen(0, '127.0.0.1', resolve);
      });
      onTestFinished(() => {
        upstream.closeAllConnections();
        upstream.close();
      });
      const { port } = upstream.address() as AddressInfo;
      const { ask, clock, of } = await startApiProxy({ upstream: `http://127.0.0.1:${port}` });
      clock.stop();
      const silentFor = async (begin: string, limitMs: number): Promise<unknown> => {
        const asking = ask(asked);
        await asking.saw(nothing);
        const answer = answers.at(-1);
        let marks = 0;
        const passes = async (text: string): Promise<void> => {
          answer?.write(`${text}: mark ${++marks}.\n\n`);
          await asking.saw(`: mark ${marks}.`);
        };
        await passes(begin);
        for (let waitedMs = 0; waitedMs < limitMs; waitedMs += 60_000) {
          await passes(nothing);
          clock.skip(60_000);
        }
        await passes(nothing);
        clock.skip(1);
        answer?.write(nothing);
        await asking.got;
        return of('call.failed').at(-1)?.failure;
      };
      const silence = (words: string) => ({
        kind: 'timeout',
        reason: 'idle_timeout',
        message: expect.stringContaining(`signs of life alone for ${words}`) as string,
      });
      expect(await silentFor('', 600_000)).toMatchObject(silence('10m'));
      expect(await silentFor(word, 300_000)).toMatchObject(silence('5m'));
      expect(of('call.failed')).toHaveLength(2);
    },
  );

  it('[E-7] an error event of the upstream passes as it came', async () => {
    const { ask, of } = await startApiProxy({ script: [{ until: 'text', then: 'error', error: 'api_error' }] });
    const got = await ask(anthropic).got;
    expect(got.whole).toBe(true);
    expect(lastData(got)).toEqual({ type: 'error', error: { type: 'api_error', message: 'api_error' } });
    expect(of('call.failed')[0]?.failure.message).toBe('The stream broke with an error of the upstream (api_error)');
  });

  it.each([
    [anthropic, 'overloaded_error', 'overloaded'],
    [anthropic, 'rate_limit_error', 'rate_limit'],
    [anthropic, 'invalid_request_error', 'permanent'],
    [openai, 'server_error', 'transient'],
    [openai, 'rate_limit_exceeded', 'rate_limit'],
    [chat, 'insufficient_quota', 'quota'],
  ])('[E-7] what an error event in the middle says is on record: %j, %s', async (asked, error, kind) => {
    const { ask, of } = await startApiProxy({ script: [{ until: 'text', then: 'error', error }] });
    expect((await ask(asked).got).text).toContain(error);
    expect(of('call.failed')[0]?.failure).toMatchObject({
      kind,
      outcome: 'unknown',
      message: `The stream broke with an error of the upstream (${error})`,
    });
  });

  it.each([claude, codex, chat])(
    '[E-7] a connection that breaks after the last event breaks nothing: %j',
    async (asked) => {
      const { ask, of } = await startApiProxy({ script: [{ until: 'end', then: 'reset' }] });
      expect((await ask(asked).got).whole).toBe(true);
      expect(of('call.failed')).toEqual([]);
    },
  );

  it('[E-7] an answer that is no stream and breaks is cut', async () => {
    const { ask } = await startApiProxy({ script: [{ do: 'short' }] });
    expect(await ask().got).toMatchObject({ status: 200, whole: false, text: '{"half":' });
  });

  it('[E-7] a client that leaves has the request to the upstream aborted at once', async () => {
    const { ask, api, told } = await startApiProxy({ script: [{ until: 'text', then: 'stall' }] });
    const asking = ask();
    await asking.saw('Hello');
    asking.leave();
    await api.aborted(1);
    expect((await told('call.failed')).failure).toMatchObject({ kind: 'cancelled', reason: 'reader_left' });
  });

  it('[E-7] the next request of a conversation is held back, longer each time', async () => {
    const broken: ModelAnswer = { until: 'text', then: 'reset' };
    const { ask, clock, api } = await startApiProxy({ script: [broken, broken, {}] });
    clock.stop();
    const session = { ...claude, headers: { ...claude.headers, 'x-claude-code-session-id': 'one' } };
    await ask(session).got;
    const second = ask({ ...session, body: '{"model":"m","stream":true,"messages":["goes on"]}' });
    await ask(anthropic).got;
    // The one of somebody else has passed; this one has not.
    expect(api.requests).toHaveLength(2);
    clock.skip(499);
    clock.skip(1);
    await api.reached(3);
    await second.got;
  });
});
