import { serve } from '@hono/node-server';
import { Hono } from 'hono';
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

const app = new Hono();

app.get('/search', async (c) => {
  const input = { query: c.req.query('q') };
  const outcome = await search.call({ tool: 'search', input }, { signal: c.req.raw.signal });
  if (outcome.ok) return Response.json(outcome.value);
  const { message: error, kind } = outcome.failure;
  return Response.json({ error, kind }, httpResponseOf(outcome.failure));
});

app.post('/messages', async (c) => {
  const body = await c.req.json().catch(() => undefined);
  if (typeof body?.text !== 'string') return c.json({ error: 'no text' }, 400);
  const acceptance = await session.send({ kind: 'user', text: body.text });
  if (!acceptance.accepted) return c.json({ error: acceptance.reason }, 503);
  const outcome = await acceptance.processed;
  // The turn went well; its tool may not have.
  if (outcome.ok) return Response.json(outcome.value, { status: outcome.value.status === 'ok' ? 200 : 502 });
  const { message: error, kind } = outcome.failure;
  return Response.json({ error, kind }, httpResponseOf(outcome.failure));
});

await gateway.start();
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`);
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
  // A server of HTTP/2 has no such connections.
  if (!('closeAllConnections' in server)) return;
  server.closeIdleConnections();
  // A client may hold a connection on which it asked for nothing.
  setTimeout(() => server.closeAllConnections(), 1000).unref();
}
