// A gateway to be looked at: its search works, its payments are down, and one of its sessions waits for a server that hangs.
// `node scripts/exampleGateway.mjs DATABASE`; ends with its parent.
import { createGateway } from '../dist/index.js';
import { faultyMcpServer, seededRandom } from '../dist/testing/index.js';

const random = seededRandom(7);
const gateway = createGateway({ store: process.argv[2], random, alerts: { failures: 3 } });
const answer = (value, ms) => new Promise((resolve) => setTimeout(resolve, ms, value));

gateway.integration('search', { effect: 'readOnly' }, ({ input }) => {
  if (random() < 0.05) throw Object.assign(new Error('HTTP 503 Service Unavailable'), { status: 503 });
  return answer([input], 20 + 60 * random());
});
gateway.integration('model', { effect: 'readOnly' }, () => answer('done', 300 + 500 * random()));
const policy = { retry: { maxAttempts: 2 }, breaker: { consecutiveFailures: 3, resetTimeoutMs: '5m' } };
gateway.integration('payments', { effect: 'idempotent', policy }, () => {
  throw Object.assign(new Error('connect ECONNREFUSED 10.0.3.7:443'), { code: 'ECONNREFUSED' });
});
gateway.mcpServer('tickets', faultyMcpServer({ tools: ['list'], faults: [{ tool: 'list', do: 'hang' }] }));

/** What each session does with a message. */
const work = {
  'agent:main': async (turn, text) => [await turn.tool('search', 'find', text), await turn.tool('model', 'ask', text)],
  'agent:billing': (turn) => turn.tool('payments', 'pay', { amount: 3 }),
  'support:4711': (turn) => turn.tool('tickets', 'list', {}),
};
const sessions = Object.entries(work).map(([id, tools]) =>
  gateway.session(id, { onMessage: ({ text }, turn) => tools(turn, text) }),
);
await gateway.start();
const [main, billing, support] = sessions;
const send = (session) => void session.send({ kind: 'user', text: 'tea' });
for (const session of [billing, billing, billing, support]) send(session);
setInterval(() => send(main), 900);
process.on('disconnect', () => process.exit());
