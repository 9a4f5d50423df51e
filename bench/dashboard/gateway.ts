import { createGateway } from '../../src/gateway/gateway.ts';

// A gateway for others to look at: so many sessions, and so many events a second, half of failing calls and half of turns. Told anything by
// its parent, it says what its process has used of the CPU so far, in µs; it ends with its parent.
const [path = '', sessions = '10000', eventsPerSecond = '1000'] = process.argv.slice(2);
const tickMs = 50;

const gateway = createGateway({ store: path, logger: false, alerts: false });
const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1_000_000_000, failureRatio: 1 } };
const integrations = Array.from({ length: 20 }, (_, index) =>
  gateway.integration(`tool-${index}`, { policy }, () => {
    throw Object.assign(new Error('connect ECONNREFUSED 10.0.3.7:7700'), { status: 503 });
  }),
);
const all = Array.from({ length: Number(sessions) }, (_, index) =>
  gateway.session(`agent:${index}`, { onMessage: () => undefined }),
);
await gateway.start();
await Promise.all(all.slice(0, 1).map((session) => session.send({ kind: 'user' })));

const begunAt = performance.now();
let told = 0;
const timer = setInterval(() => {
  const due = ((performance.now() - begunAt) / 1000) * Number(eventsPerSecond);
  // A failing call is one event, a turn that goes well is two.
  for (; told < due; told += 4) {
    void integrations[told % integrations.length]?.call(undefined);
    void integrations[(told + 1) % integrations.length]?.call(undefined);
    void all[told % all.length]?.send({ kind: 'user' });
  }
}, tickMs);

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuUs: user + system, told });
});
process.on('disconnect', () => {
  clearInterval(timer);
  process.exit();
});
process.send?.('started');
