import { describe, expect, it } from 'vitest';
import { EventScanner } from '../../../proxy/api/eventScanner.ts';
import type { Dialect } from '../../../proxy/api/route.ts';
import { modelEvents } from '../../../testing/modelEvents.ts';
import { ServerSentEventParser } from '../../../src/streams/serverSentEvents.ts';

function scanned(dialect: Dialect, chunks: readonly (string | Buffer)[]) {
  const scanner = new EventScanner(dialect);
  for (const chunk of chunks) scanner.push(Buffer.from(chunk));
  const { content, isComplete, hasFailed, mayEnd, isBetweenEvents, errorData } = scanner;
  return { content, isComplete, hasFailed, mayEnd, isBetweenEvents, errorData };
}

const says = { text: 'Grüße aus der Ferne, 世界!', tool: { name: 'Bash', input: { command: 'dätum' } }, number: 1 };

describe('the scanner of events', () => {
  it.each(['messages', 'responses', 'chat'] as const)(
    '[E-7] finds the same in %s however the bytes are cut, and as many events as the parser',
    (dialect) => {
      const { start, text, tool, last, ping } = modelEvents(dialect, says);
      const whole = Buffer.from([ping, ...start, ...text, ping, ...tool, ...last].join(''));
      const expected = scanned(dialect, [whole]);
      expect(expected).toMatchObject({ isComplete: true, hasFailed: false, isBetweenEvents: true });
      let parsed = 0;
      const parser = new ServerSentEventParser({ maxBytes: 10_000, onEvent: () => parsed++ });
      parser.push(whole);
      const signs = dialect === 'messages' ? 2 : dialect === 'responses' ? 3 : 0;
      expect(expected.content).toBe(parsed - signs - 1);
      for (const size of [1, 2, 3, 7, 64, 200]) {
        const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
          whole.subarray(at * size, (at + 1) * size),
        );
        expect(scanned(dialect, chunks)).toEqual(expected);
      }
      for (const end of ['\r\n', '\r']) {
        const text = `\uFEFF${whole.toString('utf8').replaceAll('\n', end)}`;
        expect(scanned(dialect, [text])).toEqual(expected);
        expect(scanned(dialect, text.split(/(?<=[\r\n,])/))).toEqual(expected);
      }
    },
  );

  it.each([
    ['messages', 'data: {"type":"message_stop"}\n\n', { isComplete: true }],
    ['messages', '\uFEFFdata: {"type":"message_stop"}\n\n', { isComplete: true }],
    ['messages', 'data: {"type":"ping"}\n\n', { content: 0 }],
    ['responses', 'data: {"type": "response.completed"}\n\n', { isComplete: true }],
    ['responses', 'event:response.failed\ndata:{}\n\n', { hasFailed: true, mayEnd: true }],
    ['chat', 'data: {"choices":[{"finish_reason": "stop"}]}\n\n', { isComplete: false, mayEnd: true }],
    ['chat', 'data: {"choices":[{"finish_reason":null}]}\n\n', { mayEnd: false }],
    // Said with each event that is not the last.
    ['chat', 'data: {"choices":[{"finish_reason":""}]}\n\n', { mayEnd: false }],
    ['messages', 'event: message_delta\ndata: {"delta":{"stop_reason":""}}\n\n', { mayEnd: false }],
    ['gemini', 'data: {"candidates":[{"finishReason": ""}]}\n\n', { mayEnd: false }],
    ['chat', 'data: {"error":{"message":"x"}}\n\n', { hasFailed: true }],
    ['chat', 'data: {"id":"1","choices":[{"finish_reason":"error"}],"error": {"code":502}}\n\n', { hasFailed: true }],
    ['chat', 'data: {"choices":[{"delta":{"content":"\\"error\\":{}"}}],"error":null}\n\n', { hasFailed: false }],
    ['chat', ': comment\n\n', { content: 0 }],
    // An event without data is none.
    ['messages', 'event: message_stop\n\n', { isComplete: false }],
  ] as const)('[E-7] of %s knows %j', (dialect, text, expected) => {
    expect(scanned(dialect, [text])).toMatchObject(expected);
    const bytes = [...Buffer.from(text)].map((byte) => Buffer.of(byte));
    expect(scanned(dialect, bytes)).toMatchObject(expected);
  });

  it.each(['messages', 'responses', 'chat'] as const)(
    '[E-7] keeps what an error of %s says, however the bytes are cut, and nothing else',
    (dialect) => {
      const { start, text, last } = modelEvents(dialect, says);
      const message = 'Grüße: the limit of this key is reached; '.repeat(20);
      const error = { message, type: 'tokens', param: null, code: 'rate_limit_exceeded' };
      const data = {
        messages: { type: 'error', error },
        responses: { type: 'response.failed', response: { id: 'resp_1', error } },
        chat: { id: 'chatcmpl_1', choices: [], error },
      }[dialect];
      const name = dialect === 'chat' ? '' : `event: ${data && 'type' in data ? data.type : ''}\n`;
      const whole = Buffer.from([...start, ...text, `${name}data: ${JSON.stringify(data)}\n\n`, ...last].join(''));
      for (const size of [1, 5, 64, 1000, 10_000]) {
        const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
          whole.subarray(at * size, (at + 1) * size),
        );
        const { hasFailed, errorData } = scanned(dialect, chunks);
        expect([hasFailed, JSON.parse(errorData)]).toEqual([true, data]);
      }
      expect(scanned(dialect, [[...start, ...text, ...last].join('')]).errorData).toBe('');
    },
  );

  it('[E-7] finds the end of a chat in a long line that is cut', () => {
    const line = `data: {"id":"${'x'.repeat(5000)}","choices":[{"finish_reason":"stop"}]}\n\n`;
    expect(scanned('chat', [line.slice(0, 3000), line.slice(3000)])).toMatchObject({ mayEnd: true });
  });

  it.each([
    ['', true],
    ['event: content_bl', true],
    ['event: content_block_delta\n', true],
    ['event: content_block_delta\nd', false],
    ['event: content_block_delta\ndata: {"half', false],
    ['event: content_block_delta\ndata: {}\n', true],
    ['event: content_block_delta\ndata: {}\n\n', true],
  ])('[E-7] knows whether an event of ours may follow %j', (text, expected) => {
    expect(scanned('messages', [text]).isBetweenEvents).toBe(expected);
  });

  it('[E-7] takes a line of many megabytes', () => {
    const scanner = new EventScanner('messages');
    scanner.push(Buffer.from('event: content_block_delta\ndata: '));
    for (let count = 0; count < 100; count++) scanner.push(Buffer.alloc(100_000, 0x61));
    scanner.push(Buffer.from('\n\n'));
    expect(scanner.content).toBe(1);
  });

  it('[Q-4] takes no line for data that is shorter than the name of it', () => {
    // Behind the short line the colon of the next one stands, or that of the line that was there before it.
    const text = 'd\nid: 7\n\ndata-x: 1\nd\n\n';
    const expected = scanned('chat', [text]);
    expect(expected.content).toBe(0);
    expect(scanned('chat', text.split(''))).toEqual(expected);
  });
});
