import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApiProxy, streamed } from '../startApiProxy.ts';

/** An API that sends these parts of a stream, and then ends its connection so, or leaves it open to `stalled`. */
async function streamOf(
  parts: readonly string[],
  then: 'end' | 'close' | 'stall',
  stalled: (response: ServerResponse) => void = () => undefined,
): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(parts.join(''), () => {
      if (then === 'end') response.end();
      else if (then === 'close') response.destroy();
      else stalled(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const chat = (delta: object, finish_reason: string | null = null, index = 0): string =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index, delta, finish_reason }] })}\n\n`;
const hello = chat({ content: 'Hello' });
const messages = [
  'event: message_start\ndata: {"type":"message_start"}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"\\"stop_reason\\":\\"x\\""}}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n',
];
const gemini = `data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n`;
const asked = {
  chat: { path: '/v1/chat/completions' },
  messages: { path: '/v1/messages' },
  gemini: { path: '/v1beta/models/g:streamGenerateContent?alt=sse', body: '{}' },
} as const;

describe('an answer whose reason to end has come', () => {
  it.each([
    ['chat', [hello, chat({}, 'stop')], 'data: [DONE]\n\n'],
    ['chat', [hello, chat({}, 'length'), 'data: {"usage":{"total_to'], 'data: {"usage":{"total_to'],
    ['chat', [hello, `${chat({}, 'tool_calls').trimEnd()}\n`], 'data: [DONE]\n\n'],
    ['messages', messages, 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ['messages', [...messages, 'event: message_st'], 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ['gemini', [gemini], '"finishReason":"STOP"}]}\n\n'],
  ] as const)('[E-7] of %s ends in good order when its connection breaks: %j', async (dialect, parts, end) => {
    const upstream = await streamOf(parts, 'close');
    const { ask, of } = await startApiProxy({ upstream });
    const got = await ask(asked[dialect]).got;
    expect(got).toMatchObject({ status: 200, whole: true });
    expect(got.text.replace(/\n{2,}$/, '\n\n').endsWith(end)).toBe(true);
    expect(got.text).not.toContain('error');
    expect(of('call.failed')).toEqual([]);
  });

  it.each([
    ['chat', [hello, chat({}, 'stop')]],
    ['messages', messages],
    ['gemini', [gemini]],
  ] as const)('[E-7] of %s ends 10 s after, when nothing follows', async (dialect, parts) => {
    const upstream = await streamOf(parts, 'stall');
    const { ask, clock, of } = await startApiProxy({ upstream });
    clock.stop();
    const asking = ask(asked[dialect]);
    await asking.saw(parts.at(-1) ?? '');
    clock.skip(9999);
    expect(of('call.succeeded')).toEqual([]);
    clock.skip(1);
    expect(await asking.got).toMatchObject({ status: 200, whole: true });
    expect(of('call.failed')).toEqual([]);
  });

  it('[E-7] of messages without its last event ends with it', async () => {
    const { ask } = await startApiProxy({ upstream: await streamOf(messages, 'end') });
    expect((await ask(asked.messages).got).text).toContain('event: message_stop');
  });

  it('[E-7] of chat completions without [DONE] passes as it came', async () => {
    const { ask } = await startApiProxy({ upstream: await streamOf([hello, chat({}, 'stop')], 'end') });
    expect((await ask(asked.chat).got).text).toBe(hello + chat({}, 'stop'));
  });

  it.each([
    ['one of two choices', [hello, chat({}, 'stop', 1)], { n: 2 }],
    ['an error for a reason', [hello, chat({}, 'error')], {}],
    ['a text that quotes it', [chat({ content: '"finish_reason":"stop"' })], {}],
  ] as const)('[E-7] is not one of %s', async (_, parts, extra) => {
    const { ask } = await startApiProxy({ upstream: await streamOf(parts, 'close') });
    const got = await ask({ ...asked.chat, body: streamed(extra) }).got;
    expect(got.text).toContain('stream_broken');
  });
});

describe('an answer that says a reason to end with each event', () => {
  it.each([
    ['gemini', [gemini, gemini.replace('Hi', 'there')]],
    ['chat', [chat({ content: 'Hi' }, 'stop'), chat({ content: 'there' }, 'stop')]],
  ] as const)('[E-7] of %s is whole at the end of its body alone', async (dialect, parts) => {
    const whole = await startApiProxy({ upstream: await streamOf(parts, 'end') });
    expect(await whole.ask(asked[dialect]).got).toMatchObject({ whole: true, text: parts.join('') });
    expect(whole.of('call.failed')).toEqual([]);
    const cut = await startApiProxy({ upstream: await streamOf(parts, 'close') });
    await cut.ask(asked[dialect]).got;
    expect(cut.of('call.failed')[0]?.failure).toMatchObject({ reason: 'connection_lost' });
  });

  it('[E-7] is waited for as long as any other', async () => {
    let open!: ServerResponse;
    const upstream = await streamOf([gemini], 'stall', (response) => (open = response));
    const { ask, clock, of } = await startApiProxy({ upstream });
    clock.stop();
    const asking = ask(asked.gemini);
    await asking.saw(gemini);
    open.write(gemini);
    await asking.saw(gemini, 2);
    clock.skip(89_999);
    expect([...of('call.succeeded'), ...of('call.failed')]).toEqual([]);
    clock.skip(1);
    expect(await asking.got).toMatchObject({ whole: false });
    expect(of('call.failed')[0]?.failure).toMatchObject({ reason: 'idle_timeout' });
  });
});

describe('the call of a tool that came whole', () => {
  const opencode = { ...asked.chat, headers: { 'user-agent': 'opencode/1.18.33' } };
  const call = (args: string, index = 0): string => chat({ tool_calls: [{ index, function: { arguments: args } }] });

  it.each([
    ['in one piece', [call('{"command":"date"}')], true],
    ['in pieces', [call('{"comm'), call('and":"date"}')], true],
    ['before another one', [call('{}'), call('{"half', 1)], true],
    ['not at all', [call('{"comm')], false],
    ['as a text', [chat({ content: '"tool_calls":[{"function":{"arguments":"{}"}}]' })], false],
  ] as const)('[E-7] %s has its client go on with it: %j', async (_, parts, whole) => {
    const { ask, of } = await startApiProxy({ upstream: await streamOf(parts, 'close') });
    const got = await ask(opencode).got;
    expect(got.whole).toBe(whole);
    expect(got.text.trimEnd()).toBe(parts.join('').trimEnd());
    expect(of('call.failed')).toHaveLength(1);
  });

  it.each([
    ['of responses: a search of its own', '/v1/responses', 'web_search_call', false],
    ['of responses: a function', '/v1/responses', 'function_call', true],
  ] as const)('[E-7] is one that the client makes, and none that the API makes: %s', async (_, path, type, whole) => {
    const item = { id: 'item_1', type, status: 'completed' };
    const done = `event: response.output_item.done\ndata: ${JSON.stringify({ type: 'response.output_item.done', item })}\n\n`;
    const { ask } = await startApiProxy({ upstream: await streamOf([done], 'close') });
    expect(await ask({ ...opencode, path }).got).toMatchObject({ whole });
  });

  it.each([
    ['the first part of one', { willContinue: true, partialArgs: [] }, false],
    ['all of one', { args: {} }, true],
  ])('[E-7] of gemini is %s: %j', async (_, rest, whole) => {
    const parts = [{ functionCall: { name: 'Bash', ...rest } }];
    const event = `data: ${JSON.stringify({ candidates: [{ content: { parts } }] })}\n\n`;
    const { ask, clock, told } = await startApiProxy({ upstream: await streamOf([event], 'close') });
    clock.stop();
    const asking = ask({ ...asked.gemini, headers: { 'user-agent': 'GeminiCLI/0.61.0' } });
    await told('call.failed');
    await new Promise((ended) => setImmediate(ended));
    clock.skip(1000);
    expect(await asking.got).toMatchObject({ whole });
  });

  it.each([
    ['no arguments', chat({ tool_calls: [{ index: 1, function: { name: 'list', arguments: '' } }] })],
    ['no word of arguments', chat({ tool_calls: [{ index: 1, function: { name: 'list' } }] })],
  ])('[E-7] has another one not made that has begun with %s', async (_, begun) => {
    const { ask } = await startApiProxy({ upstream: await streamOf([call('{}'), begun], 'close') });
    const got = await ask(opencode).got;
    expect(got.whole).toBe(true);
    const last: unknown = JSON.parse(got.text.trimEnd().split('data: ').at(-1) ?? '');
    expect(last).toEqual({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: '{' } }] } }],
    });
  });

  it('[E-7] is cut in the middle of an event that follows', async () => {
    const { ask } = await startApiProxy({ upstream: await streamOf([call('{}'), 'data: {"cho'], 'close') });
    expect(await ask(opencode).got).toMatchObject({ whole: false });
  });
});
