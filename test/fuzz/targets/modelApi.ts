import type { IncomingHttpHeaders } from 'node:http';
import { AnswerReader } from '../../../proxy/api/answerFigures.ts';
import { conversationIn, hasAnswers, messagesIn } from '../../../proxy/api/conversation.ts';
import { EventScanner } from '../../../proxy/api/eventScanner.ts';
import { failureOfAnswer, failureOfEvent } from '../../../proxy/api/failedAnswer.ts';
import { OpenJson } from '../../../proxy/api/openJson.ts';
import { answerHeaders, credentialOf, requestHeaders, requestUrl } from '../../../proxy/api/passedHeaders.ts';
import { conversationsOf, repeatKeys } from '../../../proxy/api/repeats.ts';
import { askedModel } from '../../../proxy/api/requestBody.ts';
import { modelOf, routeOf } from '../../../proxy/api/route.ts';
import { SpinningRequests } from '../../../proxy/api/spinningRequests.ts';
import { closingWords } from '../../../proxy/api/streamEnd.ts';
import { AttemptError } from '../../../src/policy/failures/face.ts';
import { eventText } from '../../../src/streams/eventText.ts';
import { isModelContent, wordsIn } from '../../../src/streams/modelContent.ts';
import { type ServerSentEvent, ServerSentEventParser } from '../../../src/streams/serverSentEvents.ts';
import { expecting, must, pieces, same, type Target } from '../target.ts';

const event = (name: string | undefined, data: object | string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const streams = [
  event('message_start', { type: 'message_start', message: { model: 'm', usage: { input_tokens: 5 }, content: [] } }) +
    event('ping', { type: 'ping' }) +
    event('content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } }) +
    event('message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }) +
    event('message_stop', { type: 'message_stop' }),
  event('content_block_start', {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 't', name: 'ls', input: {} },
  }) +
    event('content_block_delta', {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{}' },
    }) +
    event('content_block_stop', { type: 'content_block_stop', index: 1 }),
  event('response.created', { type: 'response.created', response: { id: 'r' } }) +
    event('response.output_text.delta', { type: 'response.output_text.delta', delta: 'x' }) +
    event('response.completed', {
      type: 'response.completed',
      response: { usage: { input_tokens: 1, output_tokens: 2 } },
    }),
  event('response.failed', { type: 'response.failed', response: { error: { code: 'server_error', message: 'no' } } }),
  event(undefined, { choices: [{ index: 0, delta: { content: 'x' } }] }) +
    event(undefined, {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] },
          finish_reason: 'stop',
        },
      ],
    }) +
    event(undefined, '[DONE]'),
  event(undefined, {
    candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1 },
  }),
  event('error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }) +
    ': keepalive\n\nid: 7\nretry: 100\ndata: a\ndata: b\n\n',
];

/** Server-sent events: the same however they are cut, and written again as they were. */
export function sse(): Target {
  const read = (chunks: readonly Buffer[]): { text: string; events: ServerSentEvent[] } => {
    const events: ServerSentEvent[] = [];
    let comments = '';
    const parser = new ServerSentEventParser({
      maxBytes: 1500,
      onEvent: (each) => events.push(each),
      onComment: (comment) => (comments += `${comment}\n`),
    });
    const fault = expectingCut(() => {
      for (const chunk of chunks) parser.push(chunk);
      parser.end();
    });
    // When it is known that one is too long, or cut off, depends on where it is cut, and what is heard until then.
    return { text: fault === '' ? JSON.stringify([events, comments]) : 'a fault', events };
  };
  return {
    seeds: [...streams, '\ufeffdata: x\r\rdata\n\nevent\ndata: \r\n\r\n'],
    run(input, random) {
      const whole = read([input]);
      same(read(pieces(input, random)).text, whole.text, 'events depend on where they are cut');
      for (const each of whole.events) {
        must(Buffer.byteLength(each.data) <= 1500, 'an event is longer than the longest');
        const written = expecting(() => eventText(each), RangeError);
        if (written === undefined) continue;
        const [again] = read([Buffer.from(written)]).events;
        same(
          JSON.stringify([again?.data, again?.event || undefined, again?.id, again?.retry]),
          JSON.stringify([each.data, each.event || undefined, each.id, each.retry]),
          'an event changes when it is written',
        );
      }
    },
  };
}

function expectingCut(run: () => void): string {
  try {
    run();
    return '';
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    return error.message;
  }
}

/** Signs of a stream that have to be the same however it is cut. */
const signs = [
  ...(['content', 'said', 'isComplete', 'hasFailed', 'isFinished', 'hasCall'] as const),
  ...(['bareCalls', 'mayBreak', 'errorData', 'errorName'] as const),
];

/** The stream of a model as the proxy of its API watches it: what it makes of it is the same however it is cut. */
export function modelStream(): Target {
  const dialects = ['messages', 'responses', 'chat', 'gemini'] as const;
  return {
    seeds: streams,
    words: ['"finish_reason":"stop"', '"stop_reason":"end_turn"', '"usage":{"input_tokens":1e400}', 'data: [DONE]\n\n'],
    maxBytes: 6000,
    run(input, random) {
      for (const dialect of dialects) {
        const look = (chunks: readonly Buffer[]): string => {
          const scanner = new EventScanner(dialect, 1);
          const reader = new AnswerReader(true);
          for (const chunk of chunks) {
            scanner.push(chunk);
            reader.push(chunk);
          }
          const { isComplete, mayEnd, errorData } = scanner;
          must(!isComplete || mayEnd, 'a stream that is complete may not end');
          const failed = () => failureOfEvent(errorData, 'x', 1_700_000_000_000, 60_000);
          failed();
          const words = (['claude', 'codex', 'other'] as const).map((client) =>
            closingWords(scanner, { client: client as never, dialect, isBroken: true, failed }),
          );
          for (const text of words) must(text === '' || text.endsWith('\n\n'), 'the last words are no event');
          return JSON.stringify([...signs.map((sign) => scanner[sign]), reader.figures, words]);
        };
        same(look(pieces(input, random)), look([input]), `what is seen of ${dialect} depends on where it is cut`);
      }
      for (const line of input.toString('utf8').split('\n')) {
        isModelContent(undefined, line);
        must(wordsIn(undefined, line).length <= line.length, 'words are longer than their event');
      }
    },
  };
}

const bodies = [
  {
    model: 'claude-x',
    stream: true,
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'ls', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'exit code 1', is_error: true }] },
    ],
    metadata: { user_id: 'session_1' },
  },
  {
    model: 'gpt',
    n: 2,
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ],
  },
  {
    input: [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ],
    prompt_cache_key: 'k',
  },
  {
    contents: [
      { role: 'model', parts: [{ functionCall: { id: 'g', name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'g', name: 'f', response: { output: 'x' } } }] },
    ],
  },
];

const head =
  'POST /v1/messages?key=secretkey HTTP/1.1\r\nAuthorization: Bearer secretkey\r\nX-Api-Key: secretkey\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nCookie: a=b\r\nsession_id: s1\r\nContent-Length: 5\r\n\r\n';

/** A request for the API of a model: its head and body as the proxy reads them, and what it passes on. */
export function modelRequest(): Target {
  const spinning = new SpinningRequests('tell' as never);
  return {
    seeds: bodies.flatMap((body) => [
      head + JSON.stringify(body),
      `GET /v1/models HTTP/1.1\r\nRetry-After: 5\r\n\r\n${JSON.stringify(body)}`,
    ]),
    maxBytes: 6000,
    run(input, random) {
      const at = input.indexOf('\r\n\r\n');
      const [line = '', ...fields] = input.subarray(0, Math.max(0, at)).toString('latin1').split('\r\n');
      const body = input.subarray(at < 0 ? 0 : at + 4);
      const [method = 'GET', url = '/'] = line.split(' ');
      const raw = fields.flatMap((field) => {
        const colon = field.indexOf(':');
        return colon < 1 ? [] : [field.slice(0, colon), field.slice(colon + 1).trim()];
      });
      const headers: IncomingHttpHeaders = {};
      for (let index = 0; index < raw.length; index += 2) headers[(raw[index] ?? '').toLowerCase()] = raw[index + 1];
      const route = routeOf(method, url);
      must(/^[\w:]+$/.test(route.label), 'a label is no word');
      modelOf(url);
      const kept = { kind: 'whole', bytes: body } as const;
      const asked = askedModel(kept);
      must(asked.choices >= 1 && asked.choices < 1000, 'a number of answers is none');
      const passed = requestHeaders(raw, headers, {
        host: 'up',
        bodyBytes: body.length,
        isRead: true,
        key: 'other',
        trace: {},
      } as never);
      must(
        passed.length % 2 === 0 &&
          passed.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length === 1,
        'headers are no pairs with one host',
      );
      const shown = credentialOf(headers)
        .split('\n')
        .filter((each) => each.length > 8);
      for (const key of shown)
        must(
          !passed.some(
            (value, index) =>
              index % 2 === 1 &&
              value === key &&
              /^(?:authorization|(?:x-)?api-key|x-goog-api-key|.*-token)$/i.test(passed[index - 1] ?? ''),
          ),
          'the key of a client is passed on',
        );
      must(answerHeaders(raw, headers, true).length % 2 === 0, 'headers are no pairs');
      requestUrl(url, 'other');
      repeatKeys(url, headers, credentialOf(headers), body);
      conversationsOf(headers);
      failureOfAnswer(
        { status: 400 + Math.floor(random() * 200), headers, body: body.toString('utf8') },
        1_700_000_000_000,
        60_000,
      );
      if (hasAnswers(body)) spinning.judge(body, headers, 0);
      const whole = new OpenJson();
      whole.push(body);
      const cut = new OpenJson();
      for (const piece of pieces(body, random)) cut.push(piece);
      must(whole.isOpen === cut.isOpen, 'JSON is open by where it is cut');
      const value = parsed(body.toString('utf8'));
      if (value === undefined) return;
      must(!whole.isOpen, 'JSON that is whole is open');
      conversationIn(messagesIn(value).messages);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
