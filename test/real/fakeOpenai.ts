import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the fake answers to one request for a response. */
export type OpenaiReply = (response: ServerResponse) => void;

export interface FakeOpenai {
  readonly url: string;
  /** Bodies of the requests for a response so far. */
  readonly requests: readonly string[];
  /** Resolves once that many came. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A Responses API on loopback that answers by a script: the replies in order, the last one again and again. */
export async function startFakeOpenai(script: readonly OpenaiReply[]): Promise<FakeOpenai> {
  const requests: string[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      if (request.method !== 'POST' || request.url !== '/v1/responses') {
        response.writeHead(404).end();
        return;
      }
      const index = requests.push(body) - 1;
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
      script[Math.min(index, script.length - 1)]?.(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
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

let lastId = 0;

/** The events of an answer of one text, in order. */
function textEvents(text: string): readonly object[] {
  const id = `msg_${++lastId}`;
  const item = (said: string) => ({
    type: 'message',
    role: 'assistant',
    id,
    content: [{ type: 'output_text', text: said }],
  });
  return [
    { type: 'response.created', response: { id: `resp_${lastId}` } },
    { type: 'response.output_item.added', item: item('') },
    ...text.split(/(?<= )/).map((delta) => ({ type: 'response.output_text.delta', delta })),
    { type: 'response.output_item.done', item: item(text) },
  ];
}

const done = {
  type: 'response.completed',
  response: { id: 'resp', usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } },
};

/** An answer of one text. */
export const responds = (text: string): OpenaiReply => streams(() => [...textEvents(text), done]);

/** An answer of one text whose stream then fails: Codex asks again. */
export const breaksAfter = (text: string): OpenaiReply =>
  streams(() => [
    ...textEvents(text),
    { type: 'response.failed', response: { id: 'resp', error: { code: 'server_error', message: 'boom' } } },
  ]);

/** An answer that runs a command. @param yieldMs - after which Codex goes on while it runs, in ms. @defaultValue Codex's own, 10 s */
export const runs = (cmd: string, yieldMs?: number): OpenaiReply =>
  callsFunction({ name: 'exec_command' }, { cmd, ...(yieldMs !== undefined && { yield_time_ms: yieldMs }) });

/** An answer that calls a tool of an MCP server. */
export const callsServer = (server: string, name: string, input: object): OpenaiReply =>
  callsFunction({ name, namespace: `mcp__${server}` }, input);

const callsFunction = (named: { readonly name: string; readonly namespace?: string }, input: object): OpenaiReply =>
  streams(() => {
    const call = { type: 'function_call', ...named, call_id: `call_${++lastId}`, arguments: JSON.stringify(input) };
    return [
      { type: 'response.created', response: { id: 'resp' } },
      { type: 'response.output_item.done', item: call },
      done,
    ];
  });

/** An error of the API. */
export const refuses =
  (status: number, message: string): OpenaiReply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { type: 'error', message } }));
  };

/** Takes the request and never answers. */
export const neverAnswers: OpenaiReply = () => undefined;

function streams(events: () => readonly object[]): OpenaiReply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events()) {
      response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  };
}
