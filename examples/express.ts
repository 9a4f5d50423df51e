import { setTimeout as sleep } from 'node:timers/promises';
import express, { type Response } from 'express';
import { createGateway, type Failure, httpResponseOf, type Message, type ToolResult, type Turn } from 'unwedge';

const { UPSTREAM = 'http://127.0.0.1:8080', PORT = '8081', STORE = 'gateway.sqlite', DRAIN_MS = '20000' } = process.env;
const { TIMEOUT_MS = '10000', OPEN_MS = '60000', WAIT_MS = '300000', LOOK_MS = '60000' } = process.env;

const gateway = createGateway({ store: STORE });
const search = gateway.http('search', {
  baseUrl: UPSTREAM,
  policy: { maxAttempts: 2, attemptMs: Number(TIMEOUT_MS), breaker: { resetTimeoutMs: Number(OPEN_MS) } },
});
const desk = gateway.mcpServer('desk', {
  command: process.execPath,
  args: ['node_modules/@modelcontextprotocol/server-everything/dist/index.js'],
  // Of a tool that changes something, `turn.tool(…, { once: true })` does nothing twice for a message delivered again.
  tools: { echo: { effect: 'readOnly' } },
  // A call may come before the server is up, and waits for it.
  policy: { restartWaitMs: '20s' },
});
const find = (text: string) => ({ method: 'GET', path: `/?q=${encodeURIComponent(text)}` }) as const;

type Answer = { readonly ok: boolean; readonly text: string };

// A session for each customer. A start during an outage counts as a delivery, of which a message has three by default.
gateway.adoptSessions((id) =>
  id.startsWith('customer:') ? { onMessage: answerCustomer, recovery: { maxDeliveries: 10 } } : undefined,
);

async function answerCustomer(message: Message, turn: Turn): Promise<Answer> {
  const answer = await answerTo(message, turn);
  // Your channel to the customer: nobody waits for the response to a request that an earlier process took.
  console.log(`${turn.session}: ${answer.text}`);
  return answer;
}

async function answerTo({ text = '' }: Message, turn: Turn): Promise<Answer> {
  const found = await withPatience(turn, () => turn.tool(search, 'search', find(text)));
  if (found.status === 'error') return { ok: false, text: found.error };
  const message = JSON.stringify(found.value.body);
  const said = await withPatience(turn, () => turn.tool(desk, 'echo', { message }));
  if (said.status === 'error') return { ok: false, text: said.error };
  return { ok: true, text: said.value.content.map((part) => (part.type === 'text' ? part.text : '')).join('') };
}

/**
 * Calls a tool again while that may help, for WAIT_MS at most: an open circuit is kept over a restart, and neither a refusal
 * nor the failure of the call that tries the circuit is to use up a message. It looks every LOOK_MS at least, as an operator
 * may close the circuit; each call is progress for the watchdog, which allows 10 minutes without. A stop ends the wait after
 * DRAIN_MS, so that in an outage it takes that long, and the message is delivered again at the next start.
 */
async function withPatience<T>(turn: Turn, call: () => Promise<ToolResult<T>>): Promise<ToolResult<T>> {
  const until = performance.now() + Number(WAIT_MS);
  for (;;) {
    const result = await call();
    if (result.status === 'ok' || !result.retryable) return result;
    const waitMs = Math.min(Math.max(result.retryAfterMs ?? Infinity, 100), Number(LOOK_MS));
    if (performance.now() + waitMs > until) return result;
    await sleep(waitMs, undefined, { signal: turn.signal });
  }
}

const app = express();
app.use(express.json());

app.post('/customers/:id/messages', async (request, response) => {
  const { text, key }: { text?: unknown; key?: unknown } = request.body ?? {};
  if (typeof text !== 'string') return void response.status(400).json({ error: 'no text' });
  const session = gateway.session<Answer>(`customer:${request.params.id}`);
  // A message that the customer sends twice, as after a lost connection, has one key. The second one has the outcome of the first: `acceptance.processed`.
  const acceptance = await session.send({ kind: 'user', text }, typeof key === 'string' ? { key } : {});
  if (!acceptance.accepted) {
    return void response.status(acceptance.reason === 'duplicate' ? 202 : 503).json({ error: acceptance.reason });
  }
  const outcome = await acceptance.processed;
  if (outcome.ok) response.status(outcome.value.ok ? 200 : 502).json(outcome.value);
  else refuse(response, outcome.failure);
});

app.get('/search', async (request, response) => {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client went away')));
  const outcome = await search.call(find(String(request.query['q'])), { signal: gone.signal });
  if (outcome.ok) response.json(outcome.value.body);
  else refuse(response, outcome.failure);
});

app.get('/metrics', async (request, response) => {
  const { text, contentType } = await gateway.metrics({ accept: request.headers.accept });
  response.set('content-type', contentType).send(text);
});

function refuse(response: Response, failure: Failure): void {
  const { status, headers } = httpResponseOf(failure);
  response.status(status).set(headers).json({ error: failure.message, kind: failure.kind });
}

await gateway.start();
const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}`);
});

// Takes nothing new and lets what is under way end, so that each request is answered. A second signal ends it now.
let drainMs = Number(DRAIN_MS);
process.on('SIGTERM', () => void stop());

async function stop(): Promise<void> {
  server.close();
  console.log('stopping');
  const stopped = gateway.stop({ drainMs });
  drainMs = 0;
  await stopped;
  server.closeIdleConnections();
  // A client may hold a connection on which it asked for nothing.
  setTimeout(() => server.closeAllConnections(), 1000).unref();
}
