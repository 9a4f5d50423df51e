import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Gateway, type GatewayOptions, type Outcome, systemClock } from '../../src/index.ts';
import type { Fact, FactType } from '../../src/policy/facts/facts.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { hasSqlite } from '../store/startStore.ts';
import { isSettled } from '../support/deferred.ts';
import { fault } from '../support/startIntegration.ts';
import { isAlive, temporaryDirectory } from '../support/temporary.ts';

const everything = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

function makeGateway(options: GatewayOptions = {}): {
  gateway: Gateway;
  facts: Fact[];
  of: (type: FactType) => Fact[];
} {
  const gateway = createGateway(options);
  const facts: Fact[] = [];
  gateway.on('*', (fact) => {
    facts.push(fact);
  });
  onTestFinished(() => gateway.stop());
  return { gateway, facts, of: (type) => facts.filter((fact) => fact.type === type) };
}

async function simulated(options: GatewayOptions = {}) {
  const clock = new SimulatedClock();
  const made = makeGateway({ ...options, clock, random: () => 0.5 });
  return { ...made, clock };
}

describe('a gateway', () => {
  it('[U-1] is embedded in a dozen lines', async () => {
    const { gateway } = makeGateway();
    const search = gateway.integration('search', { effect: 'readOnly' }, (query: string) => `found ${query}`);
    gateway.session('agent:main', { onMessage: (message, turn) => turn.tool('search', 'query', message.text) });
    await gateway.start();
    expect(await search.call('docs')).toEqual({ ok: true, value: 'found docs' });
  });

  it('[U-1] shares nothing with another one in the same process', async () => {
    const [first, second] = [makeGateway(), makeGateway()];
    for (const { gateway } of [first, second]) gateway.integration('same name', {}, () => 'fine');
    await Promise.all([first.gateway.start(), second.gateway.start()]);
    await first.gateway.stop();
    expect(second.gateway.tree().children).toHaveLength(1);
    expect(second.of('child.stopped')).toEqual([]);
  });

  it('[V-9] supervises sessions and MCP servers as permanent children, and processes as temporary ones', async () => {
    const { gateway } = makeGateway();
    gateway.mcpServer('kb', { command: process.execPath, args: [everything] });
    const cli = gateway.subprocess('cli', { command: process.execPath });
    gateway.session('agent:main', { onMessage: () => undefined });
    gateway.hook('PreToolUse', () => undefined, { name: 'guard' });
    await gateway.start();
    const started = gateway.wait('process.started', { where: (fact) => fact.process.startsWith('process:cli') });
    const running = cli.call({ args: [fixture('silent.mjs')] });
    await started;
    const restarts = Object.fromEntries((gateway.tree().children ?? []).map(({ id, restart }) => [id, restart]));
    expect(restarts).toEqual({
      'integration:kb': 'permanent',
      'mcp:kb': 'permanent',
      'integration:cli': 'permanent',
      'session:agent:main': 'permanent',
      'integration:hook:guard': 'permanent',
      'process:cli:1': 'temporary',
    });
    await gateway.stop();
    expect(await running).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'stopped' } });
  });

  it('[I-3] leaves no child behind when it is stopped in the middle of everything', async () => {
    const { gateway } = makeGateway();
    const kb = gateway.mcpServer('kb', { command: process.execPath, args: [everything] });
    const cli = gateway.subprocess('cli', { command: process.execPath });
    await gateway.start();
    const started = gateway.wait('process.started', { where: (fact) => fact.process.startsWith('process:cli') });
    const calls: Promise<Outcome<unknown>>[] = [
      kb.call({ name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 60 } }),
      cli.call({ args: [fixture('silent.mjs')] }),
    ];
    const { pid } = await started;
    await gateway.stop();
    expect(await Promise.all(calls)).toMatchObject([{ ok: false }, { ok: false }]);
    expect(isAlive(pid)).toBe(false);
    expect(gateway.tree().children?.filter(({ state }) => state === 'running') ?? []).toEqual([]);
  });

  it('[I-3] always stops: before its start, twice, and while it starts', async () => {
    const { gateway } = makeGateway();
    await gateway.stop();
    await gateway.stop();
    const { gateway: other } = makeGateway({ store: join(temporaryDirectory(), 'a.sqlite') });
    const starting = other.start();
    await other.stop();
    await starting;
    expect(other.tree().children).toEqual([]);
  });

  it('[I-3] always stops: also by who hears of its start', async () => {
    const { gateway } = makeGateway({ store: join(temporaryDirectory(), 'a.sqlite') });
    for (const name of ['search', 'mail']) gateway.integration(name, {}, () => 'fine');
    let stopped: Promise<void> | undefined;
    gateway.once('child.started', () => {
      stopped = gateway.stop();
    });
    await gateway.start();
    await stopped;
    expect(gateway.tree().children?.filter(({ state }) => state === 'running')).toEqual([]);
  });

  it('ends calls that are made before its start and never served', async () => {
    const { gateway, clock } = await simulated();
    const search = gateway.integration('search', {}, () => 'fine');
    const outcome = search.call('early');
    await clock.advance(5000);
    expect(await outcome).toMatchObject({ failure: { kind: 'unavailable' } });
  });

  it('serves calls that were made shortly before its start', async () => {
    const { gateway } = await simulated();
    const search = gateway.integration('search', {}, () => 'fine');
    const outcome = search.call('early');
    await gateway.start();
    expect(await outcome).toEqual({ ok: true, value: 'fine' });
  });

  it.each([
    [{ stroe: 'x' }, 'Unknown option `stroe`; did you mean store?'],
    [{ logger: 5 }, 'Expected `logger` to be a logger or false, got 5'],
    [{ logger: { warn: 5, info() {} } }, 'Expected `logger.warn` to be a function, got 5'],
    [{ store: 5 }, 'Expected `store` to be a non-empty string, got 5'],
    [{ clock: {} }, 'Expected `clock.now` to be a function, got undefined'],
    [{ supervisor: { intensity: -1 } }, 'Expected `supervisor.intensity` to be an integer of at least 0, got -1'],
  ])('refuses %j with an error that names it', (options, message) => {
    expect(() => createGateway(options as GatewayOptions)).toThrow(message);
  });

  it.each([
    [{ extends: 'mpc' }, 'did you mean mcp?'],
    [{ preset: 'mcp' }, 'did you mean extends?'],
    [{ retry: { maxAttempts: 0 } }, 'Expected `kb.policy.retry.maxAttempts` to be a positive integer, got 0'],
    [{ breaker: { probes: 0 } }, 'Expected `kb.policy.breaker.probes` to be a positive integer, got 0'],
    [{ limits: { idle: 5 } }, 'Unknown option `kb.policy.limits.idle`'],
  ])('refuses the policy %j with an error that names it, and starts nothing', (policy, message) => {
    const { gateway } = makeGateway();
    expect(() => gateway.integration('kb', { policy: policy as object }, () => 'fine')).toThrow(message);
    expect(() => gateway.integration('kb', {}, () => 'fine')).not.toThrow();
  });

  it('[M-1] shows an integration as it is in the tree, also right after its last call', async () => {
    const { gateway } = makeGateway();
    const kb = gateway.integration('kb', {}, () => 'fine');
    await gateway.start();
    await kb.call(undefined);
    expect(gateway.tree().children?.find(({ id }) => id === 'integration:kb')?.machineState).toBe('idle');
  });

  it('says where the options of an integration are missing', () => {
    const { gateway } = makeGateway();
    const make = gateway.integration.bind(gateway) as (name: string, operation: unknown) => unknown;
    expect(() => make('kb', () => 'fine')).toThrow(
      'Expected options of `kb` before its operation ({} for none), got a function',
    );
  });

  it('refuses a name that is taken', () => {
    const { gateway } = makeGateway();
    gateway.integration('kb', {}, () => 'fine');
    expect(() => gateway.mcpServer('kb', { command: 'x' })).toThrow('The name `kb` is taken');
  });
});

describe('what a gateway stores', () => {
  it('[O-1] [R-10] [I-4] is the final failure of a call, not its retries', async () => {
    const { gateway, clock } = await simulated();
    const search = gateway.integration('search', {}, () => Promise.reject(fault('transient')));
    await gateway.start();
    const outcome = search.call('docs');
    await clock.advance(7000);
    await outcome;
    await clock.settle();
    const rows = (await gateway.store?.read({ category: 'integration', limit: 100 })) ?? [];
    expect(rows.filter(({ type }) => type === 'failure')).toMatchObject([
      { metadata: { integration: 'search', error: 'transient fault', retry_count: 3 } },
    ]);
  });

  it.skipIf(!hasSqlite)('[M-8] keeps an open circuit over a restart, for what is left of it', async () => {
    const path = join(temporaryDirectory(), 'gateway.sqlite');
    const first = createGateway({ store: path });
    const failing = first.integration('search', {}, () => Promise.reject(fault('transient')));
    await first.start();
    for (let index = 0; index < 5; index++) await failing.call('docs', { maxAttempts: 1 });
    await first.stop();

    const second = createGateway({ store: path });
    onTestFinished(() => second.stop());
    const search = second.integration('search', {}, () => 'fine');
    await second.start();
    const outcome = await search.call('docs');
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'circuit_open' } });
    expect(!outcome.ok && (outcome.failure.retryAfterMs ?? 0)).toBeLessThanOrEqual(60_000);
  });

  it.skipIf(!hasSqlite)(
    '[M-8] does not keep a circuit open longer than it was told to, though the wall clock stepped back',
    async () => {
      const path = join(temporaryDirectory(), 'gateway.sqlite');
      const first = createGateway({ store: path });
      const failing = first.integration('search', {}, () => Promise.reject(fault('transient')));
      await first.start();
      for (let index = 0; index < 5; index++) await failing.call('docs', { maxAttempts: 1 });
      await first.stop();

      const dayBefore = { ...systemClock, wallNow: () => Date.now() - 86_400_000 };
      const second = createGateway({ store: path, clock: dayBefore });
      onTestFinished(() => second.stop());
      const search = second.integration('search', {}, () => 'fine');
      await second.start();
      const outcome = await search.call('docs');
      expect(!outcome.ok && (outcome.failure.retryAfterMs ?? 0)).toBeLessThanOrEqual(60_000);
    },
  );
});

describe('a hook', () => {
  it('[H-1] that throws or rejects is recorded, and the main operation goes on', async () => {
    const { gateway, of } = await simulated();
    gateway.hook('PreToolUse', () => {
      throw new Error('hook bug');
    });
    gateway.hook('PreToolUse', () => Promise.reject(new Error('hook rejection')));
    await gateway.start();
    const verdict = await gateway.runHooks({ event: 'PreToolUse', action: 'Bash', session: 'agent:main' });
    expect(verdict.decision).toBe('continue');
    expect(of('hook.failed')).toMatchObject([
      { event: 'PreToolUse', action: 'Bash', session: 'agent:main', error: 'hook bug' },
      { error: 'hook rejection' },
    ]);
  });

  it('[H-1] that hangs is given up after 10 s, not before', async () => {
    const { gateway, clock, of } = await simulated();
    gateway.hook('PreToolUse', () => new Promise(() => undefined));
    await gateway.start();
    const verdict = gateway.runHooks({ event: 'PreToolUse' });
    await clock.advance(9999);
    expect(await isSettled(verdict)).toBe(false);
    await clock.advance(1);
    expect(await verdict).toMatchObject({ decision: 'continue', reports: [{ failure: { kind: 'timeout' } }] });
    expect(of('hook.failed')).toHaveLength(1);
  });

  it('[H-1] blocks when it says so, and a guard that fails blocks too', async () => {
    const { gateway } = await simulated();
    gateway.hook('PreToolUse', () => ({ decision: 'block', reason: 'not on Fridays' }));
    gateway.hook('Guarded', () => Promise.reject(new Error('guard down')), { name: 'guard', onFailure: 'block' });
    await gateway.start();
    expect(await gateway.runHooks({ event: 'PreToolUse' })).toMatchObject({
      decision: 'block',
      reason: 'not on Fridays',
    });
    expect(await gateway.runHooks({ event: 'Guarded' })).toMatchObject({
      decision: 'block',
      reason: 'The hook guard failed: guard down',
    });
  });

  it('[H-1] costs a hung hook its limit a few times at most: then its circuit is open', async () => {
    const { gateway, clock } = await simulated();
    gateway.hook('PreToolUse', () => new Promise(() => undefined));
    await gateway.start();
    for (let index = 0; index < 5; index++) {
      const verdict = gateway.runHooks({ event: 'PreToolUse' });
      await clock.advance(10_000);
      await verdict;
    }
    const verdict = await gateway.runHooks({ event: 'PreToolUse' });
    expect(verdict).toMatchObject({ decision: 'continue', reports: [{ failure: { kind: 'circuit_open' } }] });
  });
});

describe('one owner of retries', () => {
  it('[R-6] makes the upstream see the attempts of one policy only', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests++;
      response.writeHead(503).end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { gateway } = makeGateway();
    gateway.integration('search', { policy: { retry: { maxAttempts: 9 } } }, async (_request, { signal }) => {
      const response = await fetch(`http://127.0.0.1:${port}/`, { signal });
      if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
    });
    const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('search', 'query') });
    await gateway.start();
    const accepted = await session.send({ kind: 'user' });
    expect(accepted.accepted && (await accepted.processed)).toMatchObject({ value: { status: 'error', retries: 2 } });
    expect(requests).toBe(3);
  });
});

describe('a turn that hangs', () => {
  it('[I-1] [G-8] keeps the process until it is released, though nothing else does', async () => {
    const script = `
      import { createGateway } from 'unwedge';
      const gateway = createGateway();
      const watchdog = { turnMs: 50, releaseMs: 50 };
      const session = gateway.session('s', { watchdog, onMessage: () => new Promise(() => undefined) });
      await gateway.start();
      const accepted = await session.send({ kind: 'user' });
      console.log((await accepted.processed).failure.kind);
      await gateway.stop();`;
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', script], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    });
    expect(stdout).toBe('watchdog');
  });
});
