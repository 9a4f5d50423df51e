import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type McpIntegrationOptions } from '../../src/index.ts';
import { SimulatedClock } from '../../src/testing/simulatedClock.ts';
import { isAlive } from '../support/temporary.ts';

const everything = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

/** A gateway with a real MCP server; `pid` is that of its latest incarnation. */
async function startServer(options: Partial<McpIntegrationOptions> = {}) {
  // A server may take its time to come up: a busy machine is no failure.
  const gateway = createGateway({ policies: { presets: { mcp: { restartWaitMs: 25_000 } } } });
  onTestFinished(() => gateway.stop());
  const kb = gateway.mcpServer('kb', { command: process.execPath, args: [everything], ...options });
  const started: number[] = [];
  gateway.on('process.started', ({ pid }) => {
    started.push(pid);
  });
  await gateway.start();
  const echo = (): ReturnType<typeof kb.call> => kb.call({ name: 'echo', arguments: { message: 'hi' } });
  const pid = (): number => {
    const latest = started.at(-1);
    if (latest === undefined) throw new Error('No server was started');
    return latest;
  };
  return { gateway, kb, echo, pid };
}

const long = { name: 'trigger-long-running-operation', arguments: { duration: 30, steps: 300 } };
const short = { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 20 } };

describe('an MCP server', () => {
  it('[P-1] [M-6] that is killed in a call ends it, is restarted and answers again', async () => {
    const { gateway, kb, echo, pid } = await startServer();
    await echo();
    const first = pid();
    const call = kb.call(long, { effect: 'mutating' });
    process.kill(first, 'SIGKILL');
    expect(await call).toMatchObject({
      ok: false,
      failure: { kind: 'crash', reason: 'connection_lost', outcome: 'unknown' },
    });
    expect(await echo()).toMatchObject({ ok: true });
    expect(pid()).not.toBe(first);
    expect(gateway.tree().children?.find(({ id }) => id === 'mcp:kb')).toMatchObject({
      incarnation: 2,
      state: 'running',
    });
  });

  it('[L-5] is named with its process to who asks why a session waits', async () => {
    const { gateway, echo, pid } = await startServer();
    const session = gateway.session('agent:main', {
      onMessage: (_message, turn) => turn.tool('kb', long.name, long.arguments),
    });
    await echo();
    void session.send({ kind: 'user' });
    await gateway.wait('session.turn_started');
    expect(gateway.why('agent:main').calls).toMatchObject([
      { integration: 'kb', target: { state: 'calling', circuit: 'closed', process: { pid: pid() } } },
    ]);
    expect(gateway.why('agent:main').calls[0]?.target?.process?.lastLine).toContain('Starting default (STDIO) server');
  });

  it('says what is wrong when it is declared without options', () => {
    const { mcpServer } = createGateway();
    expect(() => mcpServer('kb', undefined as never)).toThrow('Expected `kb` to be an object, got undefined');
  });

  it('[P-1] that is killed in a call that may be repeated repeats it after its restart', async () => {
    const { kb, echo, pid } = await startServer();
    await echo();
    const call = kb.call(short, { effect: 'readOnly' });
    process.kill(pid(), 'SIGKILL');
    expect(await call).toMatchObject({ ok: true });
  });

  it('[P-1] answers between kills however often it is killed', async () => {
    const { gateway, echo, pid } = await startServer();
    for (let kills = 0; kills < 5; kills++) {
      expect(await echo()).toMatchObject({ ok: true });
      const crashed = gateway.wait('integration.crashed');
      process.kill(pid(), 'SIGKILL');
      await crashed;
    }
    expect(await echo()).toMatchObject({ ok: true });
  });

  it('[P-1] that hangs ends its call at the idle limit, is killed when it answers no ping, and comes back', async () => {
    const { gateway, kb, echo, pid } = await startServer({ pingMs: 300, policy: { limits: { idleMs: 2000 } } });
    await echo();
    const hung = pid();
    process.kill(hung, 'SIGSTOP');
    const crashed = gateway.wait('integration.crashed');
    const outcome = await kb.call(long, { maxAttempts: 1 });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect((await crashed).message).toContain('hung');
    expect(await echo()).toMatchObject({ ok: true });
    expect(isAlive(hung)).toBe(false);
  });

  it('[P-1] [G-7] that reports progress lives beyond the idle limit', async () => {
    const { kb, echo } = await startServer();
    await echo();
    const call = kb.call(
      { name: 'trigger-long-running-operation', arguments: { duration: 6, steps: 60 } },
      { idleMs: 5000, maxAttempts: 1 },
    );
    expect(await call).toMatchObject({ ok: true });
  });

  it('[P-1] [M-7] that says no is alive: tool errors do not open its circuit', async () => {
    const { gateway, kb } = await startServer();
    const told = gateway.wait('mcp.tool_failed');
    for (let calls = 0; calls < 6; calls++) {
      expect(await kb.call({ name: 'no-such-tool' })).toMatchObject({
        ok: false,
        failure: { kind: 'permanent', reason: 'tool_error' },
      });
    }
    expect(await told).toMatchObject({ integration: 'kb', tool: 'no-such-tool' });
    expect(kb.breaker.state).toBe('closed');
  });

  it('[P-1] that cannot be started is tried again, and its callers are told why', async () => {
    const { gateway, kb } = await startServer({
      command: process.execPath,
      args: ['-e', 'console.error("no licence"); process.exit(3)'],
    });
    const crashed = await gateway.wait('integration.crashed');
    expect(crashed.message).toContain('no licence');
    expect(await kb.call({ name: 'echo' }, { overallMs: 300 })).toMatchObject({ ok: false, failure: { attempts: 0 } });
  });

  it('is restarted on request', async () => {
    const { gateway, echo, pid } = await startServer();
    await echo();
    const first = pid();
    gateway.restart('kb');
    await gateway.wait('integration.restarted');
    expect(await echo()).toMatchObject({ ok: true });
    expect(pid()).not.toBe(first);
  });
});

describe('the limits of a tool', () => {
  it('[P-1] hold for direct calls of it, and for those of sessions', async () => {
    const { gateway, kb, echo } = await startServer({ tools: { [long.name]: { attemptMs: 300, effect: 'mutating' } } });
    const session = gateway.session('agent:main', {
      onMessage: (_message, turn) => turn.tool('kb', long.name, long.arguments),
    });
    await echo();
    const direct = kb.call(long);
    const accepted = await session.send({ kind: 'user' });
    expect(await direct).toMatchObject({ ok: false, failure: { reason: 'attempt_timeout', attempts: 1 } });
    expect(accepted.accepted && (await accepted.processed)).toMatchObject({ value: { kind: 'timeout', attempts: 1 } });
  });

  it.each([
    [{ tools: { echo: { idle: 5 } } }, 'Unknown option `kb.tools.echo.idle`'],
    [
      { tools: { echo: { attemptMs: -1 } } },
      'Expected `kb.tools.echo.attemptMs` to be a duration in ms above 0, got -1',
    ],
    [{ effect: 'writes' }, 'Expected `kb.effect` to be one of readOnly, idempotent, mutating, got "writes"'],
  ])('are checked before anything is started: %j', (options, message) => {
    const gateway = createGateway();
    expect(() => gateway.mcpServer('kb', { command: 'x', ...(options as object) })).toThrow(message);
    expect(gateway.tree().children).toEqual([]);
  });
});

describe('the restarts of an MCP server', () => {
  it('[P-1] come with the next turn at first, then after 250 ms doubling to 5 s', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, random: () => 0.5 });
    onTestFinished(() => gateway.stop());
    const delays: number[] = [];
    const served = new Promise<void>((resolve) => {
      gateway.on('child.restarting', ({ delayMs }) => {
        delays.push(delayMs);
        if (delays.length === 8) resolve();
        void clock.advance(delayMs);
      });
    });
    gateway.mcpServer('kb', { command: 'no-such-command-anywhere' });
    await gateway.start();
    const pump = setInterval(() => void clock.advance(1), 1);
    await served;
    clearInterval(pump);
    expect(delays.slice(0, 8)).toEqual([0, 250, 500, 1000, 2000, 4000, 5000, 5000]);
  });
});

describe('a request that makes no sense', () => {
  it.each([undefined, {}, { name: 5 }, { name: 'echo', arguments: 'x' }])(
    '[R-5] [M-7] is the mistake of its caller, and no failure of the server: %j',
    async (request) => {
      const { kb } = await startServer();
      for (let calls = 0; calls < 6; calls++) {
        expect(await kb.call(request as never)).toMatchObject({
          failure: { kind: 'permanent', outcome: 'not_started' },
        });
      }
      expect(kb.breaker.state).toBe('closed');
    },
  );
});

describe('an MCP server that cannot be started', () => {
  it('[M-6] [I-4] is unavailable for the reason it gave', async () => {
    const { gateway, kb } = await startServer({ command: 'no-such-command-anywhere', policy: { restartWaitMs: 50 } });
    await gateway.wait('integration.crashed');
    const outcome = await kb.call({ name: 'echo' });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'unavailable', retryable: false } });
    expect(!outcome.ok && outcome.failure.retryAfterMs).toBeUndefined();
    expect(!outcome.ok && outcome.failure.message).toContain('no-such-command-anywhere');
  });
});
