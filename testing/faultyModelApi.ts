import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type Key,
  anyObject,
  byName,
  choice,
  duration,
  integer,
  list,
  readValue,
  section,
  text,
} from '../src/policy/options/face.ts';
import { bodyOf, Changes, close, listen } from './loopback.ts';
import { type ModelEvents, modelEvents, type ModelProtocol } from './modelEvents.ts';
import type { GivenAct, ReadAct } from './variants.ts';

const moments = ['headers', 'start', 'text', 'event', 'tool', 'content', 'finish', 'end'] as const;
const endings = ['end', 'stall', 'pings', 'reset', 'close', 'error', 'open'] as const;

/**
 * Point to which an answer comes before it goes wrong. `headers`: nothing of the body is sent. `start`: its first event is. `text`: half of the text is.
 * `event`: so is half of an event of the text, cut within a character. `tool`: half of the call of the tool. `content`: all but the last events. `finish`: so
 * is why it ends, where an event before the last one says that. `end`: all of it.
 */
export type ModelMoment = (typeof moments)[number];

/**
 * Ending that follows then. `end`: the body ends in good order, complete or not. `stall`: nothing more. `pings`: signs of life alone. `reset`: the connection
 * is reset. `close`: it is closed without the end of the body. `error`: an event that says so, then the end. `open`: as `stall`, the name for it after the
 * last event.
 */
export type ModelEnding = (typeof endings)[number];

const times = integer();

const modelActs = {
  /** Answers with a stream, or as a whole where the request asks for no stream. */
  answer: {
    /** @defaultValue 'Hello there, this is the model.' */
    text: text({ empty: true }),
    /** A tool that the model calls after the text. @defaultValue none */
    tool: section({
      name: text({ required: true }),
      input: { ...anyObject, required: undefined } as Key<object | undefined>,
    }),
    /** @defaultValue 'end' */
    until: choice(moments, { given: {} as ModelMoment }),
    /** @defaultValue 'end' */
    then: choice(endings, { given: {} as ModelEnding }),
    /** The type of the error, or its code. @defaultValue 'overloaded_error' */
    error: text(),
    /** Waits so long after each event, in ms above 0. @defaultValue none */
    dripMs: duration(),
    /** Waits so long between signs of life, in ms above 0. @defaultValue 10 */
    pingMs: duration(),
    /** Requests that get this answer, at least 1. @defaultValue 1; of the last answer all that follow */
    times,
  },
  /** Says no: 429, 503, 529. */
  refuse: {
    /** From 400 to 599. */
    status: integer({ required: true, min: 400, max: 599 }),
    /** In the words of the protocol. @defaultValue as the status is usually called */
    error: text(),
    /** @defaultValue {} */
    headers: byName(text({ empty: true })),
    times,
  },
  /** Takes the request and sends nothing, not even headers. */
  hang: { times },
  /** Resets the connection before there are headers. */
  reset: { times },
  /** Promises more of a body than it sends, then closes the connection. */
  short: { times },
};

/** Act of a model API on one request for an answer. */
export type ModelAnswer = GivenAct<typeof modelActs, 'answer'>;

type CheckedAnswer = ReadAct<typeof modelActs, 'answer'>;

/** A request that arrived. */
export interface ModelRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** SHA-256 of the body, in hex. */
  readonly hash: string;
  /** True where its client left before the answer had ended. */
  readonly aborted: boolean;
}

/** A running API of a model, on the loopback address. */
export interface FaultyModelApi {
  /** Without a slash at its end. */
  readonly url: string;
  /** Every request so far, in the order they arrived. */
  readonly requests: readonly ModelRequest[];
  /** Resolves once so many requests have come. */
  reached(count: number): Promise<void>;
  /** Resolves once the clients of so many requests have left before their end. */
  aborted(count: number): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * Answers of a model API: in order, the last one again and again, or a function of the request and its number, from 0.
 */
export type ModelScript = readonly ModelAnswer[] | ((request: ModelRequest, number: number) => ModelAnswer);

/**
 * The HTTP API of a model on a free port of 127.0.0.1 that goes wrong as the script says. It speaks Anthropic's messages (`…/messages`), OpenAI's responses (`…/responses`) and chat completions (`…/chat/completions`), and
 * Google's Gemini (`…:streamGenerateContent`); other requests get `{}`.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * const api = await faultyModelApi([{ do: 'refuse', status: 529, times: 3 }, { until: 'text', then: 'stall' }, {}]);
 */
export async function faultyModelApi(script: ModelScript): Promise<FaultyModelApi> {
  const answerTo = answersOf(script);
  const requests: Received[] = [];
  let answered = 0;
  const changes = new Changes();
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    void bodyOf(request).then(({ body }) => {
      const received = receivedOf(request, body);
      requests.push(received);
      response.once('close', () => {
        received.aborted = !response.writableFinished && !received.isEnded;
        changes.told();
      });
      const protocol = protocolOf(request);
      if (protocol === undefined) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      else {
        const number = answered++;
        void befall(answerTo(received, number), { request: received, response, protocol, number: answered });
      }
      changes.told();
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    reached: (count) => changes.until(() => requests.length >= count),
    aborted: (count) => changes.until(() => requests.filter((each) => each.aborted).length >= count),
    close: () => close(server),
  };
}

function answersOf(script: ModelScript): (request: ModelRequest, number: number) => CheckedAnswer {
  if (typeof script === 'function')
    return (request, number) => readValue('script', [script(request, number)], scriptKey)[0] ?? {};
  const answers = readValue('script', script, scriptKey).flatMap((each) =>
    Array.from({ length: each.times ?? 1 }, () => each),
  );
  return (_, number) => answers[Math.min(number, answers.length - 1)] ?? {};
}

interface Received extends ModelRequest {
  aborted: boolean;
  /** The script itself ended the connection. */
  isEnded: boolean;
}

interface Incident {
  readonly request: Received;
  readonly response: ServerResponse;
  readonly protocol: ModelProtocol;
  readonly number: number;
}

async function befall(answer: CheckedAnswer, { request, response, protocol, number }: Incident): Promise<void> {
  switch (answer.do) {
    case 'hang':
      return;
    case 'reset':
      request.isEnded = true;
      response.socket?.resetAndDestroy();
      return;
    case 'short': {
      request.isEnded = true;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"half":', () => response.destroy());
      return;
    }
    case 'refuse': {
      const { status, headers = {}, error = usualErrors[status] ?? 'api_error' } = answer;
      const body = { ...(protocol === 'messages' && { type: 'error' }), error: { type: error, message: error } };
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      return;
    }
    case undefined:
    case 'answer': {
      const { text: said = 'Hello there, this is the model.', tool } = answer;
      const events = modelEvents(protocol, {
        text: said,
        tool: tool === undefined ? undefined : { name: tool.name, input: tool.input ?? {} },
        number,
      });
      const streams = protocol === 'gemini' ? request.url.includes(':stream') : /"stream": ?true/.test(request.body);
      if (streams) await stream(answer, events, request, response);
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(wholeOf(protocol, said)));
    }
  }
}

async function stream(
  answer: Extract<CheckedAnswer, { readonly do?: 'answer' | undefined }>,
  events: ModelEvents,
  request: Received,
  response: ServerResponse,
): Promise<void> {
  const { until = 'end', then = 'end', dripMs, pingMs = 10, error = 'overloaded_error' } = answer;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${request.hash.slice(0, 8)}` });
  response.flushHeaders();
  for (const part of partsUntil(until, events)) {
    if (response.destroyed) return;
    await new Promise((written) => response.write(part, written));
    if (dripMs !== undefined) await pause(dripMs);
  }
  switch (then) {
    case 'end':
      response.end();
      return;
    case 'error':
      response.end(events.error(error));
      return;
    case 'reset':
      request.isEnded = true;
      response.socket?.resetAndDestroy();
      return;
    case 'close':
      request.isEnded = true;
      response.destroy();
      return;
    case 'pings':
      while (!response.destroyed) {
        response.write(events.ping);
        await pause(pingMs);
      }
      return;
    case 'stall':
    case 'open':
  }
}

/** Gives what is sent before it goes wrong. */
function partsUntil(
  moment: ModelMoment,
  { start, text: said, tool, finish, last }: ModelEvents,
): readonly (string | Buffer)[] {
  const half = (parts: readonly string[]): readonly string[] =>
    parts.slice(0, Math.max(1, Math.floor(parts.length / 2)));
  const [only = ''] = tool;
  switch (moment) {
    case 'headers':
      return [];
    case 'start':
      return start;
    case 'text':
      return [...start, ...half(said)];
    case 'event':
      return [
        ...start,
        ...half(said),
        Buffer.from((said.at(-2) ?? said[0] ?? '').replace(/\}\s*$/, 'ö')).subarray(0, -1),
      ];
    case 'tool':
      return [...start, ...said, ...(tool.length === 1 ? [only.slice(0, only.length / 2)] : half(tool))];
    case 'content':
      return [...start, ...said, ...tool];
    case 'finish':
      return [...start, ...said, ...tool, ...finish];
    case 'end':
      return [...start, ...said, ...tool, ...finish, ...last];
  }
}

function wholeOf(protocol: ModelProtocol, said: string): object {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { role: 'assistant', content: [{ type: 'text', text: said }] };
  if (protocol === 'messages')
    return {
      id: 'msg_1',
      type: 'message',
      model: 'faulty',
      ...message,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    };
  if (protocol === 'responses') return { id: 'resp_1', object: 'response', status: 'completed', output: [], usage };
  if (protocol === 'gemini')
    return { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP' }] };
  return {
    id: 'chatcmpl_1',
    choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
  };
}

function protocolOf({ method, url = '/' }: IncomingMessage): ModelProtocol | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (method !== 'POST') return undefined;
  if (path.endsWith('/messages')) return 'messages';
  if (/:(?:streamG|g)enerateContent$/.test(path)) return 'gemini';
  return path.endsWith('/responses') ? 'responses' : path.endsWith('/chat/completions') ? 'chat' : undefined;
}

function receivedOf({ method = '', url = '', headers }: IncomingMessage, body: string): Received {
  const hash = createHash('sha256').update(body).digest('hex');
  return { method, url, headers, body, hash, aborted: false, isEnded: false };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

const usualErrors: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const answerKey: Key<CheckedAnswer> = {
  kind: 'variants',
  by: 'do',
  usual: 'answer',
  required: true,
  of: modelActs,
};

const scriptKey = list(answerKey, { least: 1, required: true, expected: 'a list of at least one answer' });
