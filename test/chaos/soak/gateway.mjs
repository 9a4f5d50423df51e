// A gateway with everything on under steady work, to be watched for an hour: `node gateway.mjs SETTINGS`, which are JSON: `store`, `upstream` (an address that
// answers by its path), `seed`, `leak` (planted: of heap, descriptor, timer and file). Says `ready` and, at the end of its stdin, what was done, as JSON.
import { appendFileSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGateway } from '../../../dist/index.js';
import { seededRandom } from '../../../dist/testing/index.js';
import { workflowKind } from '../../../dist/workflow/index.js';

const { store, upstream, seed, leak = [] } = JSON.parse(process.argv[2]);
const random = seededRandom(seed);
const below = (count) => Math.floor(random() * count);
const wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
const sums = {};
const add = (name) => (sums[name] = (sums[name] ?? 0) + 1);
const count = (what, outcome) => add(`${what} ${outcome.ok ? 'ok' : outcome.failure.kind}`);

const quick = { retry: { maxAttempts: 3, backoff: { initialMs: 5, maxMs: 20 } }, breaker: { resetTimeoutMs: 1000 } };
const gateway = createGateway({
  store,
  inbox: true,
  kinds: [workflowKind],
  retention: { maxAgeMs: '90s' },
  sessions: { historyLimit: 60, idleCloseMs: '15s' },
  logger: false,
});

// Functions: some answer late, some fail once or for good, some hang until their signal.
const work = gateway.integration('work', { effect: 'readOnly', policy: quick }, async (input, { signal }) => {
  const { n = 0 } = input.input ?? input;
  if (n % 50 === 1) await wait(60_000, signal);
  if (n % 10 === 3 && random() < 0.7) throw Object.assign(new Error('service unavailable'), { status: 503 });
  if (n % 40 === 5) throw Object.assign(new Error('no such thing'), { status: 404 });
  await wait(below(20), signal);
  return n;
});
const job = gateway.integration('job', { keepMs: '5s', policy: { attemptMs: 100, maxAttempts: 1 } }, async () => {
  await wait(150);
  return 'late';
});
const words = gateway.integration('words', {}, async function* ({ count: most }) {
  for (let n = 0; n < most; n++) {
    await wait(2);
    yield `word ${n} `;
  }
});
const api = gateway.http('api', { baseUrl: upstream });
const flaky = gateway.http('flaky', { baseUrl: upstream, policy: { ...quick, attemptMs: 500 } });
const tools = gateway.mcpServer('tools', {
  command: process.execPath,
  args: [fileURLToPath(new URL('toolServer.mjs', import.meta.url))],
  policy: { idleMs: '2s', attemptMs: '3s' },
});
const command = gateway.subprocess('command', { command: 'sleep', policy: { attemptMs: 300, maxAttempts: 1 } });
gateway.hook('PreToolUse', ({ action }) => (action === 'rm' ? { decision: 'block', reason: 'no' } : undefined));
gateway.hook('Seldom', { command: 'true' }, { overallMs: '2s' });
const confirm = gateway.approval('person', undefined, { overallMs: 1500 });
const plan = () => ({
  success: true,
  items: [
    { id: 'a', action: 'a' },
    { id: 'b', action: 'b', dependencies: ['a'] },
  ],
});
const refuses = ({ id }) => {
  if (id === 'b' && random() < 0.5) throw Object.assign(new Error('payment required'), { status: 402 });
  return id;
};
const report = gateway.workflow('report', {
  backends: [
    { name: 'first', plan, item: refuses },
    { name: 'second', plan, item: ({ id }) => id },
  ],
});
const unheard = gateway.integration('unheard', { policy: { retry: { maxAttempts: 1 } } }, () => Promise.reject('no'));

/** Reads a stream to its end, or leaves; a stream that fails says so in its outcome. */
async function read(chunks, leaves) {
  try {
    for await (const _ of chunks) if (leaves()) break;
  } catch {
    add('stream broke');
  }
}

/** A turn uses a tool of each kind; every eighth asks a person, of whom half do not answer in time. */
async function onMessage({ data: { n } }, turn) {
  add(`tool ${(await turn.tool(work, 'any', { n })).status}`);
  add(`tool ${(await turn.tool(tools, 'echo', { text: `n ${n}` })).status}`);
  if (n % 4 === 0) add(`tool ${(await turn.tool(api, 'get', { path: '/ok' })).status}`);
  if (n % 6 === 0) for (const _ of ['kept', 'joined']) add(`late ${(await turn.tool(job, 'long', { n })).status}`);
  if (n % 8 === 0) count('ask', await turn.ask(`go on with ${n}?`, undefined, { overallMs: 1500 }));
  if (n % 9 === 0) {
    const { chunks, result } = turn.stream(words, 'any', { count: 5 });
    await read(chunks, () => n % 2 === 0);
    add(`stream ${(await result).status}`);
  }
  return n;
}

// People: they answer two of three questions.
gateway.on('question.asked', ({ question }) => {
  if (below(3) > 0)
    setTimeout(
      () => void gateway.inbox.answer(question, { decision: below(2) ? 'accept' : 'decline', by: 'soak' }),
      50,
    );
});

/** By name: how often in a second, and what is done. */
const doings = {
  call: [40, async () => count('call', await work.call({ n: below(1000) }, { attemptMs: 300 }))],
  cancelled: [
    3,
    async () => {
      const leaves = new AbortController();
      setTimeout(() => leaves.abort(), below(30));
      count('cancelled', await work.call({ n: 1 }, { signal: leaves.signal }));
    },
  ],
  http: [10, async () => count('http', await api.call({ path: '/ok' }))],
  flaky: [
    3,
    async () =>
      count('flaky', await flaky.call({ path: ['/ok', '/ok', '/ok', '/fails', '/limits', '/hangs'][below(6)] })),
  ],
  mcp: [
    10,
    async () => count('mcp', await tools.call({ name: ['echo', 'large'][below(2)], arguments: { text: 'mcp' } })),
  ],
  crash: [0.05, async () => count('crash', await tools.call({ name: 'die' }))],
  command: [1, async () => count('command', await command.call({ args: [below(4) === 0 ? '9' : '0.01'] }))],
  stream: [
    2,
    async () => {
      const { chunks, outcome } = words.stream({ count: 20 });
      const leaves = below(3) === 0;
      await read(chunks, () => leaves);
      count('stream', await outcome);
    },
  ],
  hook: [
    3,
    async () =>
      add(`hook ${(await gateway.runHooks({ event: 'PreToolUse', action: ['rm', 'ls'][below(2)] })).decision}`),
  ],
  program: [0.2, async () => add(`hook ${(await gateway.runHooks({ event: 'Seldom', action: 'any' })).decision}`)],
  approval: [1, async () => add(`approval ${(await confirm({ action: 'deploy' })).decision}`)],
  workflow: [0.3, async () => add(`workflow ${(await report.run('daily').outcome).status}`)],
  regular: [6, (n) => message(`regular-${n % 8}`, n)],
  visitor: [1, (n) => message(`visitor-${n}`, n)],
  closed: [
    0.5,
    async (n) => {
      const id = `closed-${n}`;
      await message(id, n);
      await gateway.session(id).close({ drainMs: 1000 });
    },
  ],
  looked: [
    0.5,
    async () => {
      await gateway.metrics();
      await gateway.report();
      gateway.session('regular-0').why();
      gateway.tree();
    },
  ],
  reader: [
    0.5,
    async () => {
      const events = gateway.events();
      let left = 50;
      for await (const _ of events) if (--left === 0) break;
    },
  ],
  unheard: [0.2, async () => count('unheard', await unheard.call({}))],
  restart: [0.02, () => gateway.restart('tools')],
  leak: [leak.length === 0 ? 0 : 20, () => leak.forEach((what) => leaks[what]())],
};

/** A session remembers the keys of its last 10,000 messages, longer than this takes: those that stay for all of it get none. */
async function message(id, n) {
  const options = id.startsWith('regular') ? {} : { key: `${id} ${n}` };
  const sent = await gateway.session(id).send({ kind: 'user', data: { n } }, options);
  if (!sent.accepted) return add(`refused ${sent.reason}`);
  add(`turn ${(await sent.processed).ok ? 'ok' : 'failed'}`);
}

const leaked = [];
const timers = [];
/** Planted, to see that the judge sees them. */
const leaks = {
  heap: () => leaked.push(Array.from({ length: 2000 }, () => random())),
  descriptor: () => leaked.push(openSync(process.execPath)),
  timer: () => timers.push(setTimeout(() => undefined, 86_400_000)),
  file: () => writeFileSync(join(dirname(store), `left-${leaked.push(0)}`), 'x'.repeat(10_000)),
};

gateway.adoptSessions(() => ({ onMessage }));
await gateway.start();

let over = false;
const open = new Set();
function keepDoing(name, perSecond, once) {
  const most = Math.max(3, perSecond / 4);
  let under = 0;
  const go = async (n) => {
    // On a machine that stands still work does not pile up.
    if (under >= most) return add('held back');
    under++;
    try {
      await once(n);
    } catch (error) {
      add('thrown');
      appendFileSync(join(dirname(store), 'thrown'), `${name}: ${error?.stack ?? error}\n`);
    } finally {
      under--;
    }
  };
  const next = (n) => {
    const timer = setTimeout(
      () => {
        if (over) return;
        const done = go(n);
        open.add(done);
        void done.finally(() => open.delete(done));
        next(n + 1);
      },
      (500 + random() * 1000) / perSecond,
    );
    timer.unref();
  };
  if (perSecond > 0) next(0);
}
for (const [name, [perSecond, once]] of Object.entries(doings)) keepDoing(name, perSecond, once);
process.stdout.write('ready\n');
process.stdin.resume();
process.stdin.once('end', () => void end());

async function end() {
  over = true;
  await gateway.stop();
  await Promise.allSettled(open);
  for (const timer of timers) clearTimeout(timer);
  process.stdout.write(`${JSON.stringify(sums)}\n`);
}
