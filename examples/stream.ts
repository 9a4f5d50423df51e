import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createGateway, httpResponseOf, IntegrationError } from 'unwedge';

const { UPSTREAM = 'http://127.0.0.1:8080', PORT = '8081', IDLE_MS = '30000' } = process.env;

const gateway = createGateway();
const policy = { idleMs: Number(IDLE_MS) };
const model = gateway.integration('model', { effect: 'readOnly', policy }, (prompt: string, { signal }) =>
  fetch(UPSTREAM, { method: 'POST', body: JSON.stringify({ prompt, stream: true }), signal }),
);

const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse) {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client went away')));
  const prompt = new URL(request.url ?? '', 'http://host').searchParams.get('prompt') ?? '';
  try {
    for await (const chunk of model.stream(prompt, { signal: gone.signal }).chunks) {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (!response.write(chunk)) await once(response, 'drain', { signal: gone.signal });
    }
    response.end();
  } catch (error) {
    // Half an answer is cut, never ended in good order: the client must not take it for a whole one.
    if (response.headersSent || !(error instanceof IntegrationError)) response.destroy();
    else response.writeHead(httpResponseOf(error.failure).status).end(error.failure.message);
  }
}

await gateway.start();
server.listen(Number(PORT), '127.0.0.1', () => console.log(server.address()));
process.on('SIGTERM', () => {
  server.close();
  void gateway.stop({ drainMs: 20_000 });
});
