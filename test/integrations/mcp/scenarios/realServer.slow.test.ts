import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type McpIntegrationOptions } from '../../../../src/index.ts';
import { isAlive } from '../../../support/temporary.ts';

const everything = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
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

describe('a real MCP server', () => {
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
    const { gateway, kb, echo, pid } = await startServer({ pingMs: 300 });
    await echo();
    const hung = pid();
    process.kill(hung, 'SIGSTOP');
    const crashed = gateway.wait('integration.crashed');
    const outcome = await kb.call(long, { maxAttempts: 1, idleMs: 300 });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect((await crashed).message).toContain('hung');
    expect(await echo()).toMatchObject({ ok: true });
    expect(isAlive(hung)).toBe(false);
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

describe('the limits of a tool of a real MCP server', () => {
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
});
