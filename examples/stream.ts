import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { anthropicEvents, createGateway, eventText, httpResponseOf, IntegrationError } from 'unwedge';

const { UPSTREAM = 'http://127.0.0.1:8080/v1', API_KEY, PORT = '8081', IDLE_MS = '90000' } = process.env;

const gateway = createGateway();
const policy = { idleMs: Number(IDLE_MS) };
const headers = { 'x-api-key': API_KEY, 'anthropic-version': '2023-06-01' };
const llm = gateway.http('llm', { baseUrl: UPSTREAM, headers, effect: 'readOnly', events: anthropicEvents, policy });

const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse) {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client went away')));
  const content = new URL(request.url ?? '', 'http://host').searchParams.get('prompt') ?? '';
  const body = { model: 'a-model', max_tokens: 1024, messages: [{ role: 'user', content }], stream: true };
  try {
    const { chunks } = llm.stream({ method: 'POST', path: '/messages', body }, { signal: gone.signal });
    for await (const event of chunks) {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (!response.write(eventText(event))) await once(response, 'drain', { signal: gone.signal });
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
