import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Gateway, type GatewayOptions } from '../../../src/index.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { isSettled } from '../../support/deferred.ts';
import { fault } from '../../support/startIntegration.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

function makeGateway(options: GatewayOptions = {}): { gateway: Gateway; facts: Fact[] } {
  const gateway = createGateway(options);
  const facts: Fact[] = [];
  gateway.on('*', (fact) => {
    facts.push(fact);
  });
  onTestFinished(() => gateway.stop());
  return { gateway, facts };
}

function simulated(options: GatewayOptions = {}) {
  const clock = new SimulatedClock();
  return { ...makeGateway({ ...options, clock, random: () => 0.5 }), clock };
}

/** A store in which the circuit of `search` is open. */
async function storeWithOpenCircuit(): Promise<string> {
  const path = join(temporaryDirectory(), 'gateway.sqlite');
  const gateway = createGateway({ store: path });
  const failing = gateway.integration('search', {}, () => Promise.reject(fault('transient')));
  await gateway.start();
  for (let index = 0; index < 5; index++) await failing.call('docs', { maxAttempts: 1 });
  await gateway.stop();
  return path;
}

describe('what is called before the start', () => {
  it.skipIf(!hasSqlite)('[M-8] finds the circuit open that an earlier run left open', async () => {
    const { gateway } = makeGateway({ store: await storeWithOpenCircuit() });
    const search = gateway.integration('search', {}, () => 'fine');
    const early = search.call('early');
    await gateway.start();
    expect(await early).toMatchObject({ ok: false, failure: { kind: 'circuit_open' } });
    expect(search.breaker.state).toBe('open');
  });

  it.skipIf(!hasSqlite)('[O-9] [M-8] is told why an earlier run left the circuit open', async () => {
    const { gateway } = makeGateway({ store: await storeWithOpenCircuit() });
    const search = gateway.integration('search', {}, () => 'fine');
    await gateway.start();
    const outcome = await search.call('docs');
    expect(outcome.ok ? '' : outcome.failure.message).toMatch(
      /^The circuit of search is open: transient fault; next try in \d+ s$/,
    );
    expect(gateway.store?.breakers.load('search')?.cause).toMatchObject({
      kind: 'transient',
      failures: Array.from({ length: 5 }, (_, index) => ({ call: `search-${index + 1}`, message: 'transient fault' })),
    });
  });

  it('[M-8] is isolated when the integration was isolated then', async () => {
    const { gateway } = simulated();
    const search = gateway.integration('search', {}, () => 'fine');
    const release = search.breaker.isolate();
    await gateway.start();
    expect(await search.call('docs')).toMatchObject({ failure: { kind: 'circuit_open', reason: 'isolated' } });
    release();
    expect(await search.call('docs')).toEqual({ ok: true, value: 'fine' });
  });

  it('[M-6] makes no attempt on an MCP server that is not up yet', async () => {
    const { gateway, facts, clock } = simulated();
    const kb = gateway.mcpServer('kb', { command: 'no-such-command-anywhere' });
    const early = kb.call({ name: 'echo' });
    await gateway.start();
    await clock.advance(5000);
    expect(await early).toMatchObject({ failure: { kind: 'unavailable', attempts: 0 } });
    expect(facts.filter(({ type }) => type === 'call.retried')).toEqual([]);
  });
});

describe('a breaker that is kept', () => {
  it('[M-8] is kept as closed when a restart of what is behind it closed it', async () => {
    const { gateway } = simulated();
    const search = gateway.integration('search', {}, () => Promise.reject(fault('transient')));
    await gateway.start();
    for (let index = 0; index < 5; index++) await search.call('docs', { maxAttempts: 1 });
    expect(gateway.store?.breakers.load('search')?.state).toBe('open');
    gateway.restart('search');
    expect(gateway.store?.breakers.load('search')?.state).toBe('closed');
  });
});

describe('a gateway that is stopped while it starts', () => {
  it('[I-3] closes the store that was opening', async () => {
    const path = join(temporaryDirectory(), 'gateway.sqlite');
    const { gateway } = makeGateway({ store: path });
    const starting = gateway.start();
    await gateway.stop();
    await starting;
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

describe('a run of a subprocess', () => {
  it.each([
    { command: 'other', args: ['--version'] },
    { env: { NODE_OPTIONS: '--inspect' } },
    { graceMs: 0 },
    { args: 'not a list' },
    { args: [1] },
    { stdin: 5 },
    { cwd: 7 },
  ])('[S-1] takes nothing from its request but arguments, input and directory: %j is refused', async (request) => {
    const { gateway, facts } = makeGateway();
    const cli = gateway.subprocess('cli', { command: process.execPath });
    await gateway.start();
    const outcome = await cli.call(request as object);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'permanent', outcome: 'not_started', attempts: 1 } });
    expect(facts.filter(({ type }) => type === 'process.started')).toEqual([]);
  });

  it('[S-1] keeps the directory of its integration when its request names none', async () => {
    const cwd = temporaryDirectory();
    const { gateway } = makeGateway();
    const cli = gateway.subprocess('cli', { command: process.execPath, cwd });
    await gateway.start();
    const script = 'process.stdout.write(require("node:fs").realpathSync(process.cwd()))';
    const outcome = await cli.call({ args: ['-e', script], cwd: undefined });
    expect(outcome.ok && outcome.value.stdout.text.endsWith(cwd.split('/').at(-1) ?? '')).toBe(true);
  });

  it.each([
    ['its command', { command: 'no-such-command-anywhere' }, 'ENOENT'],
    ['its directory', { command: process.execPath, cwd: '/no/such/directory' }, 'ENOENT'],
    ['room for its arguments', { command: process.execPath, args: ['x'.repeat(4_000_000)] }, 'E2BIG'],
  ])('[S-4] [I-1] that has not %s says so at once, and is not tried again', async (_what, options, code) => {
    const { gateway } = makeGateway();
    const cli = gateway.subprocess('cli', options);
    await gateway.start();
    expect(await cli.call({})).toMatchObject({ failure: { kind: 'spawn', code, attempts: 1 } });
  });

  it.each([[{ maxOutputBytes: -1 }], [{ graceMs: -1 }], [{ cwd: 7 }], [{ args: 'none' }]])(
    'with the options %j is refused when it is declared',
    (options) => {
      const { gateway } = makeGateway();
      const wrong = { command: process.execPath, ...(options as object) };
      expect(() => gateway.subprocess('cli', wrong)).toThrow(Object.keys(options)[0]);
    },
  );

  it('[R-8] is killed when its call is aborted in the moment of its start', async () => {
    const { gateway, facts } = makeGateway();
    const cli = gateway.subprocess('cli', { command: process.execPath });
    await gateway.start();
    const controller = new AbortController();
    gateway.on('process.started', () => controller.abort());
    const exited = gateway.wait('process.exited');
    const outcome = cli.call({ args: ['-e', 'setInterval(() => {}, 1000)'] }, { signal: controller.signal });
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    await exited;
    expect(facts.filter(({ type }) => type === 'call.late')).toEqual([]);
  });
});

describe('a policy whose preset is left open', () => {
  it('keeps the preset of what it is for', () => {
    const { gateway } = makeGateway();
    const policy = { extends: undefined };
    const kb = gateway.mcpServer('kb', { command: 'x', policy });
    const cli = gateway.subprocess('cli', { command: 'x', policy });
    expect([kb.policy.limits.idleMs, cli.policy.limits.idleMs]).toEqual([30_000, 180_000]);
  });
});

describe('a hook', () => {
  it('[H-1] whose answer cannot be read goes on, and a guard declines', async () => {
    const unreadable = (): object =>
      Object.defineProperty({}, 'decision', {
        get() {
          throw new Error('no decision');
        },
      });
    const { gateway } = simulated();
    gateway.hook('Observed', unreadable);
    gateway.hook('Guarded', unreadable, { onFailure: 'block' });
    await gateway.start();
    expect(await gateway.runHooks({ event: 'Observed' })).toMatchObject({ decision: 'continue' });
    expect(await gateway.runHooks({ event: 'Guarded' })).toMatchObject({ decision: 'block' });
  });

  it('[H-1] may throw what throws when it is looked at', async () => {
    const hostile = Object.defineProperty(new Error('x'), 'stack', {
      get() {
        throw new Error('no stack');
      },
    });
    const { gateway, facts } = simulated();
    gateway.hook('PreToolUse', () => Promise.reject(hostile));
    await gateway.start();
    expect(await gateway.runHooks({ event: 'PreToolUse' })).toMatchObject({ decision: 'continue' });
    expect(facts.filter(({ type }) => type === 'hook.failed')).toHaveLength(1);
  });
});

describe('a listener that stops the gateway', () => {
  it('[I-1] [I-3] in the middle of a failure leaves no call waiting', async () => {
    const { gateway, clock } = simulated();
    const search = gateway.integration('search', { policy: { breaker: { consecutiveFailures: 1 } } }, () =>
      Promise.reject(fault('transient')),
    );
    await gateway.start();
    gateway.on('breaker.opened', () => void gateway.stop());
    const outcome = search.call('docs');
    await clock.settle();
    expect(await isSettled(outcome)).toBe(true);
  });
});
