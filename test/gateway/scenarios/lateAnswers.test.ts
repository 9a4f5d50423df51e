import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createGateway,
  type ToolCallOptions,
  type ToolResult,
  type TransportMcpOptions,
  type Turn,
} from '../../../src/index.ts';
import { type FakeMcpContext, fakeMcpServer, SimulatedClock } from '../../../testing/index.ts';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { hasSqlite } from '../../store/startStore.ts';

type Call = Deferred<unknown> & FakeMcpContext;

interface Started {
  readonly store?: string;
  readonly options?: Partial<TransportMcpOptions & { keepMs: number; tools: object }>;
}

/** A gateway with an MCP server whose answers the test gives, on a clock of the test. */
async function startGateway({ store, options }: Started = {}) {
  const clock = new SimulatedClock();
  const calls: Call[] = [];
  const gateway = createGateway({ control: false, ...(store === undefined ? { clock } : { store }) });
  onTestFinished(() => gateway.stop());
  const tool = (_input: unknown, context: FakeMcpContext): Promise<unknown> => {
    const call = { ...deferred<unknown>(), ...context };
    calls.push(call);
    pass(limits);
    return call.promise;
  };
  const server = gateway.mcpServer('ci', {
    ...fakeMcpServer({ tools: { build: tool, ping: () => 'pong' } }),
    ...options,
    policy: { limits: { idleMs: 3000, attemptMs: 3000, overallMs: 60_000 }, retry: { maxAttempts: 2 } },
  });
  /** Limits of callers that pass as soon as the tool runs, and as soon as their call has joined one that is kept. */
  const limits: AbortController[] = [];
  const ofJoined: AbortController[] = [];
  gateway.on('call.joined', () => pass(ofJoined));
  const asked: ((turn: Turn) => Promise<void>)[] = [];
  /** Calls the tool in a turn of its own. */
  const ask = async (
    session = 'main',
    input: object = { ref: 'main' },
    more: ToolCallOptions = {},
  ): Promise<ToolResult> => {
    const result = deferred<ToolResult>();
    asked.push(async (turn) => result.resolve(await turn.tool('ci', 'build', input, more)));
    await sessions[session]?.send({ kind: 'user', text: 'go' });
    return result.promise;
  };
  const onMessage = async (_message: unknown, turn: Turn): Promise<void> => asked.shift()?.(turn);
  const sessions = Object.fromEntries(['main', 'other'].map((id) => [id, gateway.session(id, { onMessage })]));
  await gateway.start();
  await clock.settle();
  const askWith = (passing: AbortController[]): Promise<ToolResult> => {
    const limit = new AbortController();
    passing.push(limit);
    return ask('main', { ref: 'main' }, { signal: limit.signal });
  };
  const askShortly = (): Promise<ToolResult> => askWith(limits);
  const joinShortly = (): Promise<ToolResult> => askWith(ofJoined);
  return { gateway, clock, calls, ask, askShortly, joinShortly, server };
}

const pass = (limits: AbortController[]): void =>
  limits.shift()?.abort(new DOMException('The operation timed out', 'TimeoutError'));

const textOf = (result: ToolResult): unknown => (result.status === 'ok' ? result.value : result.error);

describe('the late answer of an MCP server', () => {
  it('[R-18] the same call with a limit of 3 s of a tool that takes 5 s runs the tool once, and two different ones twice', async () => {
    const { ask, calls, clock } = await startGateway();
    const first = ask();
    await clock.advance(3000);
    expect(await first).toMatchObject({ status: 'error', kind: 'timeout', keptUntil: expect.any(Number) as number });
    const second = ask();
    await clock.advance(2000);
    calls[0]?.resolve('built');
    await clock.settle();
    expect(await second).toMatchObject({ status: 'ok', joined: true, value: { content: [{ text: 'built' }, {}] } });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.signal.aborted).toBe(false);
    const third = ask('main', { ref: 'other' });
    await clock.settle();
    expect(calls).toHaveLength(2);
    calls[1]?.resolve('built');
    await clock.settle();
    expect(await third).not.toHaveProperty('joined');
  });

  it('[R-18] `keepMs: 0`, of the server or a tool, ends the call at its limit as ever', async () => {
    for (const options of [{ keepMs: 0 }, { tools: { build: { keepMs: 0 } } }]) {
      const { ask, calls, clock } = await startGateway({ options });
      void ask();
      await clock.advance(3000);
      await clock.settle();
      expect(calls[0]?.signal.aborted).toBe(true);
    }
  });

  it('[R-18] the first equal call after the death of the server is answered unknown, once', async () => {
    const { ask, calls, clock } = await startGateway();
    const first = ask();
    await clock.advance(3000);
    await first;
    calls[0]?.crash();
    await clock.advance(1000);
    const second = ask();
    await clock.settle();
    expect(await second).toMatchObject({ status: 'error', outcome: 'unknown', joined: true, attempts: 0 });
    expect(calls).toHaveLength(1);
    void ask();
    await clock.advance(1000);
    expect(calls).toHaveLength(2);
  });

  it('[R-18] a call without a session is aborted at its limit', async () => {
    const { server, calls, clock } = await startGateway();
    const outcome = server.call({ name: 'build', arguments: {} });
    await clock.advance(3000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'timeout' } });
    await clock.settle();
    expect(calls[0]?.signal.aborted).toBe(true);
  });
});

describe.skipIf(!hasSqlite)('late answers in the ledger', () => {
  it('[R-18] [I-5] one that nobody had asked for is given once after a restart, to no other session', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const first = await startGateway({ store });
    expect(await first.askShortly()).toHaveProperty('keptUntil');
    first.calls[0]?.resolve('built');
    await new Promise<void>((resolve) => {
      first.gateway.on('session.late_result', () => resolve());
    });
    await first.gateway.stop();

    const second = await startGateway({ store });
    const other = second.ask('other', { ref: 'main' });
    await expect.poll(() => second.calls.length).toBe(1);
    second.calls[0]?.resolve('another');
    expect(await other).not.toHaveProperty('joined');
    const given = await second.ask();
    expect(given).toMatchObject({ status: 'ok', joined: true });
    expect(JSON.stringify(textOf(given))).toContain('built');
    expect(second.calls).toHaveLength(1);
    await second.gateway.stop();

    const third = await startGateway({ store });
    const again = third.ask();
    await expect.poll(() => third.calls.length).toBe(1);
    third.calls[0]?.resolve('anew');
    expect(await again).not.toHaveProperty('joined');
  });

  it('[R-18] one whose gateway ended before it came is told as lost, once', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const first = await startGateway({ store });
    await first.askShortly();
    await first.gateway.stop();

    const second = await startGateway({ store });
    expect(await second.ask()).toMatchObject({ status: 'error', outcome: 'unknown', joined: true });
    await second.gateway.stop();

    const third = await startGateway({ store });
    void third.ask();
    await expect.poll(() => third.calls.length).toBe(1);
  });

  it('[R-18] calls that had joined one are not told as lost beside it, nor after it', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const first = await startGateway({ store });
    await first.askShortly();
    for (let time = 0; time < 2; time++)
      expect(await first.joinShortly()).toMatchObject({ joined: true, outcome: 'unknown' });
    await first.gateway.stop();

    const second = await startGateway({ store });
    expect(await second.ask()).toMatchObject({ status: 'error', outcome: 'unknown', joined: true });
    void second.ask();
    await expect.poll(() => second.calls.length).toBe(1);
  });

  it('[R-18] calls that had joined one whose late answer was given are not told as lost after a restart', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const first = await startGateway({ store });
    await first.askShortly();
    expect(await first.joinShortly()).toHaveProperty('keptUntil');
    first.calls[0]?.resolve('built');
    expect(await first.ask()).toMatchObject({ status: 'ok', joined: true });
    await first.gateway.stop();

    const second = await startGateway({ store });
    void second.ask();
    await expect.poll(() => second.calls.length).toBe(1);
  });
});
