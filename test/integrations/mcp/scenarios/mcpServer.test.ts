import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type McpIntegration, type McpIntegrationOptions } from '../../../../src/index.ts';
import { fakeMcpServer } from '../../../../testing/fakeMcpServer.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

const scripted = fileURLToPath(new URL('../../../fixtures/mcpScripted.mjs', import.meta.url));

async function startServer(options: Partial<McpIntegrationOptions> = {}, until?: 'integration.crashed') {
  // A server may take its time to come up: a busy machine is no failure.
  const gateway = createGateway({ policies: { presets: { mcp: { restartWaitMs: 25_000 } } } });
  onTestFinished(() => gateway.stop());
  const kb = gateway.mcpServer('kb', { ...faultyServer(), ...options });
  // Listened for from before the start: it may come before that is over.
  const seen = until === undefined ? undefined : gateway.wait(until);
  await gateway.start();
  return { gateway, kb, seen: await seen };
}

describe('an MCP server', () => {
  it('says what is wrong when it is declared without options', () => {
    const { mcpServer } = createGateway();
    expect(() => mcpServer('kb', undefined as never)).toThrow('Expected `kb` to be an object, got undefined');
  });

  it('[P-1] that cannot be started is tried again, and its callers are told why', async () => {
    const { kb, seen } = await startServer(
      { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(3)'] },
      'integration.crashed',
    );
    expect(seen?.message).toContain('no licence');
    expect(await kb.call({ name: 'echo' }, { overallMs: 300 })).toMatchObject({ ok: false, failure: { attempts: 0 } });
  });
});

describe('arguments that are no JSON', () => {
  it.each([{ effect: 'mutating' }, { effect: 'readOnly', join: true }] as const)(
    '[R-12] never left: a call that is %o is not started, says which, and says nothing of the server',
    async (rule) => {
      const { connect } = fakeMcpServer({ tools: { pay: () => 'paid' } });
      const gateway = createGateway({ logger: false, control: false });
      onTestFinished(() => gateway.stop());
      const tools = { pay: rule };
      const kb = gateway.mcpServer('kb', { connect, tools });
      const seen: unknown[] = [];
      const session = gateway.session('agent:main', {
        onMessage: async (_, turn) => {
          for (const amount of [10n, 10]) seen.push(await turn.tool(kb, 'pay', { amount }));
        },
      });
      await gateway.start();
      const circle: Record<string, unknown> = {};
      circle['self'] = circle;
      for (let at = 0; at < 10; at++) {
        expect(await kb.call({ name: 'pay', arguments: at % 2 === 0 ? { amount: 10n } : circle })).toMatchObject({
          failure: {
            kind: 'permanent',
            outcome: 'not_started',
            retryable: false,
            message: expect.stringContaining(at % 2 === 0 ? '`arguments.amount`' : '`arguments.self`') as string,
          },
        });
      }
      expect(kb.breaker.state).toBe('closed');
      expect(await kb.call({ name: 'pay', arguments: { amount: 10 } })).toMatchObject({ ok: true });
      const sent = await session.send({ kind: 'user', text: 'go' });
      if (sent.accepted) await sent.processed;
      expect(seen).toMatchObject([
        { status: 'error', error: expect.stringContaining('`arguments.amount`') as string },
        { status: 'ok' },
      ]);
    },
  );
});

describe('the budget of an MCP server', () => {
  it('[G-16] counts calls of its tools, and not the question which there are', async () => {
    const { connect } = fakeMcpServer({ tools: { add: () => 'added' } });
    const gateway = createGateway({ logger: false, control: false });
    onTestFinished(() => gateway.stop());
    const kb = gateway.mcpServer('kb', { connect, policy: { budget: { day: { requests: 1 } } } });
    await gateway.start();
    expect(await kb.tools()).toMatchObject({ ok: true, value: [{ name: 'add' }] });
    expect(await kb.call({ name: 'add' })).toMatchObject({ ok: true });
    expect(await kb.call({ name: 'add' })).toMatchObject({ failure: { reason: 'budget', outcome: 'not_started' } });
  });
});

describe('the limits of a tool', () => {
  it.each([
    [{ tools: { echo: { idle: 5 } } }, 'Unknown option `kb.tools.echo.idle`'],
    [{ whenAlife: 1 }, 'Unknown option `kb.whenAlife`; did you mean whenAlive?'],
    [{ onLost: 1 }, 'Unknown option `kb.onLost`; known: command, args, env'],
    [
      { tools: { echo: { attemptMs: -1 } } },
      'Expected `kb.tools.echo.attemptMs` to be a duration above 0 (ms, or text such as 30s), got -1',
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
    const options = { command: 'no-such-command-anywhere', policy: { restartWaitMs: 50 } };
    const { kb } = await startServer(options, 'integration.crashed');
    const outcome = await kb.call({ name: 'echo' });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'unavailable', retryable: false } });
    expect(!outcome.ok && outcome.failure.retryAfterMs).toBeUndefined();
    expect(!outcome.ok && outcome.failure.message).toContain('no-such-command-anywhere');
  });
});

describe('the last words of an MCP server', () => {
  /** What is told of the server to who asks why a call waits for it. Its first process says why it cannot start, and ends. */
  async function wordsOf(env: Readonly<Record<string, string>>, whenAsked: (kb: McpIntegration) => Promise<unknown>) {
    const { gateway, kb } = await startServer(
      {
        command: process.execPath,
        args: [scripted, temporaryDirectory()],
        env: { FAIL_STARTS: '1', ...env },
      },
      'integration.crashed',
    );
    const session = gateway.session('agent:main', {
      onMessage: (_message, turn) => turn.tool('kb', 'act', { do: 'hang' }),
    });
    await whenAsked(kb);
    void session.send({ kind: 'user' });
    await gateway.wait('session.turn_started');
    return gateway.why('agent:main').calls[0]?.target?.process;
  }

  it('[L-5] are not told of the process that follows the one that said them', async () => {
    const words = await wordsOf({}, (kb) => kb.call({ name: 'echo' }));
    expect(words).toEqual({ pid: expect.any(Number) as number, lastLine: undefined });
  });

  it('[L-5] are told as long as there is no other process', async () => {
    const words = await wordsOf({ STALL_STARTS: '2' }, () => Promise.resolve());
    expect(words).toEqual({ pid: undefined, lastLine: 'no luck at start 1' });
  });
});
