// The API of a model that answers at once: `?events=N` says with how many events.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const delta = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'forty-four characters of text, as models send' },
};
const event = Buffer.from(`event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`);
const start = 'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1"}}\n\n';
const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let left = Number(new URL(request.url ?? '/', 'http://host').searchParams.get('events') ?? '1');
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(start);
    const go = (): void => {
      while (left > 0) {
        left--;
        if (response.write(event)) continue;
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
