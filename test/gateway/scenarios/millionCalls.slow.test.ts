import { expect, it } from 'vitest';
import { runFresh } from '../../support/freshProcess.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** Makes calls that end in every way, and prints what the process holds before, between, and after the gateway has stopped. */
const program = (directory: string) => `
  import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
  import { setImmediate } from 'node:timers/promises';
  import { createGateway } from 'unwedge';

  const settle = async () => { for (let turn = 0; turn < 20; turn++) { await setImmediate(); gc(); } };
  const holds = () => ({
    resources: process.getActiveResourcesInfo().sort(),
    listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]).sort(),
    files: readdirSync('/proc/self/fd').map((fd) => { try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } })
      .filter((path) => path.startsWith('/') && !path.startsWith('/dev/') && !path.startsWith('/proc/')).sort(),
    children: readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim(),
  });
  const refuse = (status) => { throw Object.assign(new Error('no'), { status }); };
  // Made when they are first asked for.
  const standard = [process.stdin, process.stdout, process.stderr];
  const before = holds();
  const gateway = createGateway({ store: ${JSON.stringify(`${directory}/million.sqlite`)}, logger: false });
  const retry = { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 1 } };
  const healthy = gateway.integration('healthy', {}, async (n) => n);
  const failing = gateway.integration('failing', {}, async () => refuse(400));
  const broken = gateway.integration('broken', { effect: 'readOnly', policy: { retry } }, async () => refuse(503));
  const hanging = gateway.integration('hanging', {}, (_, { signal }) => new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })));
  const command = gateway.subprocess('command', { command: 'true' });
  const notes = gateway.mcpServer('notes', {
    command: process.execPath,
    args: ['node_modules/@modelcontextprotocol/server-memory/dist/index.js'],
    env: { MEMORY_FILE_PATH: ${JSON.stringify(`${directory}/notes.json`)} },
  });
  const session = gateway.session('agent', { onMessage: (_, turn) => turn.tool('healthy', 'any') });
  const counts = {};
  const count = (outcome) => {
    const how = outcome.ok ? 'ok' : outcome.failure.kind;
    counts[how] = (counts[how] ?? 0) + 1;
  };
  let told = 0;
  gateway.on('*', () => { told++; });
  await gateway.start();
  const many = async (calls) => {
    for (let done = 0; done < calls; done += 1000) {
      for (let batch = 0; batch < 10; batch++) (await Promise.all(Array.from({ length: 99 }, (_, n) => healthy.call(n)))).forEach(count);
      const mixed = [];
      for (let each = 0; each < 4; each++) mixed.push(failing.call({}), broken.call({}));
      const leaves = new AbortController();
      mixed.push(hanging.call({}, { signal: leaves.signal }));
      const isRare = done % 10000 === 0;
      mixed.push(isRare ? (done % 20000 === 0 ? command.call({}) : notes.call({ name: 'read_graph' })) : healthy.call(0));
      leaves.abort();
      if (isRare) await (await session.send({ kind: 'user', text: 'go' })).processed;
      (await Promise.all(mixed)).forEach(count);
    }
    await settle();
    return process.memoryUsage().heapUsed;
  };
  const first = await many(500000);
  const grewBytes = (await many(500000)) - first;
  await gateway.stop();
  await settle();
  console.log(JSON.stringify({ before, after: holds(), grewBytes, counts, told: told > 0 }));
`;

interface Printed {
  readonly before: unknown;
  readonly after: unknown;
  readonly grewBytes: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly told: boolean;
}

it.skipIf(process.platform !== 'linux')(
  '[I-3] [Q-7] a gateway leaves no timer, listener, child, file nor memory of 1,000,000 calls',
  { timeout: 600_000 },
  async () => {
    const { printed, complaints } = await runFresh(program(temporaryDirectory()), {
      nodeOptions: '--expose-gc',
    });
    expect(complaints).toBe('');
    const { before, after, grewBytes, counts, told } = printed as Printed;
    expect(told).toBe(true);
    expect(after).toEqual(before);
    expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(1_000_000);
    expect(counts['ok']).toBe(991_000);
    expect(grewBytes).toBeLessThan(2_000_000);
  },
);
