import express from 'express';
import { createGateway, httpResponseOf } from 'unwedge';

const { UPSTREAM = 'http://127.0.0.1:8080', PORT = '0', TIMEOUT_MS = '10000', DRAIN_MS = '20000' } = process.env;

const gateway = createGateway();
const policy = { maxAttempts: 2, attemptMs: Number(TIMEOUT_MS) };
const search = gateway.integration('search', { effect: 'readOnly', policy }, async ({ input }, { signal }) => {
  const response = await fetch(`${UPSTREAM}/?q=${encodeURIComponent(input.query)}`, { signal });
  if (response.ok) return response.json();
  throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status, headers: response.headers });
});
const session = gateway.session('agent:main', {
  onMessage: (message, turn) => turn.tool('search', 'search', { query: message.text }),
});

const app = express();
app.use(express.json());

app.get('/search', async (request, response) => {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client went away')));
  const input = { query: String(request.query.q) };
  const outcome = await search.call({ tool: 'search', input }, { signal: gone.signal });
  if (outcome.ok) response.json(outcome.value);
  else {
    const { status, headers } = httpResponseOf(outcome.failure);
    response.status(status).set(headers).json({ error: outcome.failure.message, kind: outcome.failure.kind });
  }
});

app.post('/messages', async (request, response) => {
  const text = request.body?.text;
  const acceptance = typeof text === 'string' ? await session.send({ kind: 'user', text }) : undefined;
  if (acceptance === undefined) response.status(400).json({ error: 'no text' });
  else if (!acceptance.accepted) response.status(503).json({ error: acceptance.reason });
  else {
    const outcome = await acceptance.processed;
    // The turn went well; its tool may not have.
    if (outcome.ok) response.status(outcome.value.status === 'ok' ? 200 : 502).json(outcome.value);
    else {
      const { status, headers } = httpResponseOf(outcome.failure);
      response.status(status).set(headers).json({ error: outcome.failure.message, kind: outcome.failure.kind });
    }
  }
});

await gateway.start();
const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}`);
});

// Takes nothing new and lets what is under way end, so that each request is answered; then nothing keeps the process.
process.on('SIGTERM', () => void stop());
let drainMs = Number(DRAIN_MS);

async function stop() {
  server.close();
  console.log('stopping');
  const stopped = gateway.stop({ drainMs });
  // A second signal ends it now.
  drainMs = 0;
  await stopped;
  server.closeIdleConnections();
  // A client may hold a connection on which it asked for nothing.
  setTimeout(() => server.closeAllConnections(), 1000).unref();
}
