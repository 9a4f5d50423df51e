import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Fact, type FactType, type Told } from '../../../src/index.ts';
import type { McpFaultRule } from '../../../testing/mcpFaults.ts';
import { allGone } from '../../actors/process/startProcess.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { faultyServer } from '../../support/faultyServer.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const silent = fileURLToPath(new URL('../../fixtures/silent.mjs', import.meta.url));
const hang = (): Promise<never> => new Promise(() => {});

const faults: readonly McpFaultRule[] = [
  { tool: 'crash', do: 'crash', signal: 'SIGKILL' },
  { tool: 'hang', do: 'hang' },
  { tool: 'hang_all', do: 'hang', scope: 'server' },
];

/** A gateway of many parts, all of the same names as those of any other; what it does depends on what it is asked. */
function makeGateway({ store = ':memory:', session: id = 'agent:main' }: { store?: string; session?: string } = {}) {
  const gateway = createGateway({
    store,
    control: false,
    policies: { presets: { mcp: { maxAttempts: 1, restartWaitMs: 25_000 } } },
  });
  onTestFinished(() => gateway.stop());
  const facts: Told<Fact>[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const startsFile = join(temporaryDirectory(), 'starts');
  const fn = gateway.integration('fn', { policy: { maxAttempts: 1, abortGraceMs: 100 } }, (input: unknown) => {
    if (input === 'hang') return hang();
    if (input === 'fail') throw new Error('HTTP 503');
    return input;
  });
  const kb = gateway.mcpServer('kb', { ...faultyServer({ faults, startsFile, tools: ['echo'] }), pingMs: 300 });
  const cli = gateway.subprocess('cli', { command: process.execPath, graceMs: 200, policy: { maxAttempts: 1 } });
  gateway.hook('PreToolUse', ({ payload }) => (payload === 'fail' ? Promise.reject(new Error('bug')) : undefined), {
    name: 'guard',
  });
  const session = gateway.session(id, {
    onMessage: async ({ text }, turn) => (text === 'hang' ? hang() : turn.tool('fn', 'echo', text)),
    watchdog: { releaseMs: 100 },
  });
  return {
    gateway,
    facts,
    fn,
    kb,
    cli,
    session,
    of: (type: FactType) => facts.filter((fact) => fact.type === type),
    pids: () => facts.flatMap((fact) => (fact.type === 'process.started' ? [fact.pid] : [])),
    serverStarts: () => readFileSync(startsFile).length,
  };
}

type Made = ReturnType<typeof makeGateway>;

/** Everything that can go wrong in a gateway, all at once, up to its end in the middle of calls. */
async function hammer({ gateway, fn, kb, cli, session }: Made): Promise<void> {
  gateway.on('call.failed', () => {
    throw new Error('a listener with a bug');
  });
  const wrong: Promise<unknown>[] = [];
  for (let times = 0; times < 20; times++) wrong.push(fn.call('fail'));
  wrong.push(fn.call('hang', { attemptMs: 50 }), gateway.runHooks({ event: 'PreToolUse', payload: 'fail' }));
  wrong.push(cli.call({ args: [silent] }, { idleMs: 200 }), cli.call({ args: ['-e', 'process.exit(3)'] }));
  await Promise.all(wrong);
  for (const name of ['crash', 'hang', 'hang_all']) await kb.call({ name }, { idleMs: 300 });
  await session.send({ kind: 'user', text: 'fail' });
  await session.send({ kind: 'user', text: 'hang' });
  void fn.call('hang');
  void kb.call({ name: 'hang' });
  void cli.call({ args: [silent] });
  await gateway.stop();
}

/** What a gateway does for its users: one round of it, with all that came of it. */
async function serve({ gateway, fn, kb, cli, session }: Made, round: number): Promise<unknown> {
  const accepted = await session.send({ kind: 'user', text: `m${round}` });
  return Promise.all([
    fn.call(round),
    kb.call({ name: 'echo', arguments: { round } }),
    cli.call({ args: ['-p', String(round)] }),
    accepted.accepted ? accepted.processed : accepted,
    gateway.runHooks({ event: 'PreToolUse', payload: round }),
  ]);
}

const served = (round: number): unknown => [
  { ok: true, value: round },
  { ok: true, value: { content: [{ type: 'text' }] } },
  { ok: true, value: { stdout: { text: `${round}\n` } } },
  { ok: true, value: { status: 'ok', value: { input: `m${round}` }, retries: 0 } },
  { decision: 'continue' },
];

/** What must not be in the facts of a gateway that nothing happened to. */
const troubles: readonly FactType[] = [
  'call.failed',
  'call.refused',
  'breaker.opened',
  'integration.crashed',
  'child.crashed',
  'hook.failed',
  'listener.failed',
  'session.tool_failed',
];

const shared = hasSqlite ? (['stores of their own', 'one store file'] as const) : (['stores of their own'] as const);

describe.each(shared)('two gateways in one process on %s', (stores) => {
  const files = (): [string, string] => {
    if (stores === 'one store file')
      return Array.from({ length: 2 }).fill(join(temporaryDirectory(), 'both.sqlite')) as [string, string];
    return hasSqlite
      ? [join(temporaryDirectory(), 'a.sqlite'), join(temporaryDirectory(), 'b.sqlite')]
      : [':memory:', ':memory:'];
  };

  /** Both of the same names; on one file a session belongs to one of them, so there they have one each. */
  async function startBoth(order: 'first' | 'second') {
    const [one, two] = files();
    const own = stores === 'one store file' ? { session: 'agent:other' } : {};
    const made = [makeGateway({ store: one }), makeGateway({ store: two, ...own })] as const;
    const before = [process.listenerCount('exit'), process.listenerCount('uncaughtException')];
    for (const { gateway } of made) await gateway.start();
    const [hammered, calm] = order === 'first' ? made : ([made[1], made[0]] as const);
    return { hammered, calm, before };
  }

  it.each(['first', 'second'] as const)(
    '[U-1] leave each other alone: what befalls the %s, up to its end, does not touch the other',
    async (order) => {
      const { hammered, calm } = await startBoth(order);
      await serve(calm, 0);
      const server = calm.pids();
      let over = false;
      const troubled = hammer(hammered).finally(() => {
        over = true;
      });
      let rounds = 1;
      for (; !over || rounds < 3; rounds++) expect(await serve(calm, rounds)).toMatchObject(served(rounds) as object);
      await troubled;
      expect(await serve(calm, rounds)).toMatchObject(served(rounds) as object);

      expect(troubles.filter((type) => hammered.of(type).length === 0)).toEqual([]);
      expect(troubles.flatMap((type) => calm.of(type))).toEqual([]);
      expect(calm.facts.filter((fact) => 'incarnation' in fact && fact.incarnation > 1)).toEqual([]);
      expect([calm.fn.state, calm.kb.state, calm.cli.state]).toEqual(['idle', 'idle', 'idle']);
      expect([calm.fn.breaker.state, calm.kb.breaker.state]).toEqual(['closed', 'closed']);
      expect([calm.serverStarts(), calm.pids().slice(0, server.length)]).toEqual([1, server]);
      await calm.gateway.stop();
      await allGone(...hammered.pids(), ...calm.pids());
    },
  );

  it('[U-1] keep their own records', async () => {
    const { hammered, calm } = await startBoth('first');
    await serve(calm, 1);
    for (let times = 0; times < 5; times++) await hammered.fn.call('fail');
    await Promise.all([hammered.gateway.store?.flush(), calm.gateway.store?.flush()]);
    const failures = async (made: Made) => {
      const rows = await made.gateway.store?.read({ category: 'integration', limit: 100 });
      return rows?.filter(({ type }) => type === 'failure').length;
    };
    expect([await failures(hammered), await failures(calm)]).toEqual(stores === 'one store file' ? [5, 5] : [5, 0]);
    const sessions = (made: Made) => made.session.history.length;
    expect([sessions(hammered), sessions(calm) > 0]).toEqual([0, true]);
  });

  it('[U-1] tell their own listeners only', async () => {
    const { hammered, calm } = await startBoth('first');
    // Up by now: what it has to say of its own start is said.
    await calm.kb.call({ name: 'echo' });
    const heard: Fact[] = [];
    calm.gateway.on('*', (fact) => void heard.push(fact));
    const stream = calm.gateway.events();
    const waited = calm.gateway.wait('breaker.opened');
    for (let times = 0; times < 5; times++) await hammered.fn.call('fail');
    await hammered.gateway.stop();
    const ofTheOther = (fact: Fact): boolean =>
      troubles.includes(fact.type) ||
      fact.type === 'child.stopped' ||
      ('integration' in fact && fact.integration === 'fn');
    expect(heard.filter(ofTheOther)).toEqual([]);
    await calm.gateway.stop();
    await expect(waited).rejects.toThrow('breaker.opened');
    const streamed: Fact[] = [];
    for await (const fact of stream) streamed.push(fact);
    expect(streamed.map(({ type }) => type).filter((type) => troubles.includes(type))).toEqual([]);
  });

  it('[U-1] [R-8] end their own calls on a signal they share, and let go of it', async () => {
    const { hammered, calm } = await startBoth('first');
    const controller = new AbortController();
    const { signal } = controller;
    const [ended, goesOn] = [hammered.fn.call('hang', { signal }), calm.fn.call('hang', { signal })];
    await hammered.gateway.stop();
    expect(await ended).toMatchObject({ failure: { kind: 'cancelled', reason: 'stopped' } });
    expect(signal.aborted).toBe(false);
    controller.abort(new Error('enough'));
    expect(await goesOn).toMatchObject({
      failure: { kind: 'cancelled', message: expect.stringContaining('enough') as string },
    });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('[U-1] [I-1] keep their own deadlines when the other stops', async () => {
    const { hammered, calm } = await startBoth('first');
    const outcome = calm.fn.call('hang', { attemptMs: 300 });
    void hammered.fn.call('hang', { attemptMs: 100_000 });
    await hammered.gateway.stop();
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'attempt_timeout' } });
  });

  it('[U-1] [I-3] leave nothing on the process once both have stopped', async () => {
    const { hammered, calm, before } = await startBoth('second');
    hammered.gateway.guardProcess();
    calm.gateway.guardProcess({ goOn: () => false });
    await serve(calm, 1);
    await hammered.gateway.stop();
    expect(process.listenerCount('uncaughtException')).toBe((before[1] ?? 0) + 1);
    expect(await serve(calm, 2)).toMatchObject(served(2) as object);
    await calm.gateway.stop();
    await allGone(...hammered.pids(), ...calm.pids());
    expect([process.listenerCount('exit'), process.listenerCount('uncaughtException')]).toEqual(before);
  });
});

describe.skipIf(!hasSqlite)('two gateways on one store file', () => {
  it('[U-1] [M-3] let one of them probe at a time, and the end of one takes nothing from the other’s probe', async () => {
    const store = join(temporaryDirectory(), 'both.sqlite');
    const answers: ((value: string) => void)[] = [];
    const make = () => {
      const gateway = createGateway({ store, control: false });
      onTestFinished(() => gateway.stop());
      const policy = { maxAttempts: 1, breaker: { consecutiveFailures: 1, resetTimeoutMs: 50 }, attemptMs: 60_000 };
      const fn = gateway.integration('fn', { policy }, (input: string) => {
        if (input === 'fail') throw new Error('HTTP 503');
        return new Promise<string>((resolve) => answers.push(resolve));
      });
      return { gateway, fn };
    };
    const [one, two] = [make(), make()];
    for (const { gateway, fn } of [one, two]) {
      await gateway.start();
      await fn.call('fail');
    }
    await Promise.all([one.gateway.store?.flush(), two.gateway.store?.flush()]);
    const dispatched = async ({ fn, gateway }: typeof one): Promise<boolean> => {
      const halfOpened = gateway.wait('breaker.half_opened').then(
        () => true,
        () => false,
      );
      const call = fn.call('probe');
      return Promise.race([halfOpened, call.then(() => false)]);
    };
    while (!(await dispatched(one)));
    expect(await dispatched(two)).toBe(false);
    await two.gateway.stop();
    const third = make();
    await third.gateway.start();
    expect(await third.fn.call('probe')).toMatchObject({ failure: { kind: 'circuit_open' } });
    for (const answer of answers) answer('well');
    await one.gateway.wait('breaker.closed');
    expect(one.fn.breaker.state).toBe('closed');
  });
});

describe('two guarded gateways', () => {
  it('[U-1] [H-1] both hear of an uncaught error, each as long as it runs; then the process ends by itself', async () => {
    const script = `
      import { createGateway } from 'unwedge';
      const heard = [];
      const make = async (name) => {
        const gateway = createGateway();
        gateway.integration('fn', {}, () => 1);
        gateway.on('host.uncaught', ({ error }) => heard.push(name + ': ' + error));
        await gateway.start();
        gateway.guardProcess({ goOn: () => true });
        return gateway;
      };
      const [one, two] = [await make('one'), await make('two')];
      const uncaught = (message) => new Promise((resolve) => {
        setImmediate(() => { setImmediate(resolve); throw new Error(message); });
      });
      await uncaught('first');
      await one.stop();
      await uncaught('second');
      await two.stop();
      console.log(heard.join('\\n'));`;
    const { stdout, exitCode } = await execa(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
    expect(stdout.split('\n')).toEqual(['one: first', 'two: first', 'two: second']);
    expect(exitCode).toBe(0);
  });
});
