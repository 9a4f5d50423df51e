// The API of a model that answers at once, by one object: `?events=N` asks for so many events, the model `bench-N` for events that each come in a turn of their own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const text = 'forty-four characters of text, as models send';
const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
const part = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench' };
const chatEvent = (choice: object): string =>
  `data: ${JSON.stringify({ ...part, choices: [{ index: 0, ...choice }] })}\n\n`;

/** Events of messages, and of chat completions. */
const dialects = {
  messages: {
    start: 'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1"}}\n\n',
    event: Buffer.from(`event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`),
    stop: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
  chat: {
    start: chatEvent({ delta: { role: 'assistant', content: '' }, finish_reason: null }),
    event: Buffer.from(chatEvent({ delta: { content: text }, finish_reason: null })),
    stop: `${chatEvent({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`,
  },
};

const usage = { prompt_tokens: 500, completion_tokens: 12, total_tokens: 512 };
const whole = JSON.stringify({
  ...{ ...part, object: 'chat.completion', usage },
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
});

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { url = '/' } = request;
  let left = Number(/[?&]events=(\d+)/.exec(url)?.[1] ?? '0');
  let isApart = false;
  const { start, event, stop } = dialects[url.includes('/chat/') ? 'chat' : 'messages'];
  request.once('data', (chunk: Buffer) => {
    const count = /"model":"bench-(\d+)"/.exec(chunk.toString('latin1', 0, 500))?.[1];
    if (count !== undefined) [left, isApart] = [Number(count), true];
  });
  request.on('end', () => {
    if (left === 0) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
      response.end(whole);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(start);
    const go = (): void => {
      while (left > 0) {
        left--;
        const isFull = !response.write(event);
        if (isApart) {
          setImmediate(go);
          return;
        }
        if (!isFull) continue;
        response.once('drain', go);
        return;
      }
      response.end(stop);
    };
    go();
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
