import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the fake answers to one request for a message. */
export type Reply = (response: ServerResponse) => void;

/** One request as it came. */
export interface FakeRequest {
  readonly body: {
    readonly messages: readonly FakeMessage[];
    readonly stream?: boolean | undefined;
    readonly tools?: readonly { readonly name: string }[] | undefined;
  };
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface FakeMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly [field: string]: unknown }[];
}

/** The replies in order, the last one again and again; or a function of the request and its number, from 0. */
export type FakeScript = readonly Reply[] | ((request: FakeRequest, index: number) => Reply);

export interface FakeAnthropic {
  readonly url: string;
  /** Requests for a message so far. */
  readonly requests: readonly FakeRequest[];
  /** Resolves once that many came. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A Messages API on loopback that answers by a script. */
export async function startFakeAnthropic(script: FakeScript): Promise<FakeAnthropic> {
  const requests: FakeRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const replyTo = (request: FakeRequest): Reply => {
    const index = requests.push(request) - 1;
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    return typeof script === 'function'
      ? script(request, index)
      : (script[Math.min(index, script.length - 1)] ?? fails(500));
  };
  const server = createServer((request, response) => {
    void readAll(request).then((text) => {
      const isMessage = request.method === 'POST' && request.url?.split('?')[0] === '/v1/messages';
      if (isMessage) replyTo({ body: JSON.parse(text) as FakeRequest['body'], headers: request.headers })(response);
      else response.writeHead(404).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    reached: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ count, resolve });
          }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk as string;
  return text;
}

/** An answer of one text. */
export const says = (text: string): Reply =>
  answers(
    [
      [
        { type: 'text', text: '' },
        { type: 'text_delta', text },
      ],
    ],
    'end_turn',
  );

/** An answer that calls a tool. */
export const callsTool = (name: string, input: object): Reply => callsTools([name, input]);

/** An answer that calls several tools at once. */
export const callsTools = (...calls: readonly (readonly [name: string, input: object])[]): Reply =>
  answers(
    calls.map(([name, input]) => [
      { type: 'tool_use', id: `toolu_${name}_${++toolCalls}`, name, input: {} },
      { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    ]),
    'tool_use',
  );

let toolCalls = 0;

function answers(blocks: readonly (readonly [block: object, delta: object])[], stopReason: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, fields: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    };
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake', content: [], stop_reason: null };
    send('message_start', { message: { ...message, stop_sequence: null, usage } });
    for (const [index, [block, delta]] of blocks.entries()) {
      send('content_block_start', { index, content_block: block });
      send('content_block_delta', { index, delta });
      send('content_block_stop', { index });
    }
    send('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage });
    send('message_stop', {});
    response.end();
  };
}

/** An answer of one text, whose connection is cut behind that text. */
export const cutBehind =
  (text: string): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, fields: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    };
    const message = {
      id: 'msg_cut',
      type: 'message',
      role: 'assistant',
      model: 'fake',
      content: [],
      stop_reason: null,
    };
    send('message_start', {
      message: { ...message, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 5 } },
    });
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
    // What was sent is to arrive before the cut.
    response.write(`event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n`, () => {
      setTimeout(() => response.socket?.destroy(), 200);
    });
  };

/** An error of the API. */
export function fails(status: number, type = 'api_error', message = type, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ type: 'error', error: { type, message } }));
  };
}

/** Never answers. */
export const hangs: Reply = () => undefined;
