import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type TransportMcpOptions } from '../../../../src/index.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { legacyTaskServer, said } from '../../../support/taskServers.ts';

async function start(options: Partial<TransportMcpOptions> = {}) {
  const clock = new SimulatedClock();
  const server = legacyTaskServer();
  const gateway = createGateway({ clock, random: () => 0.5 });
  onTestFinished(() => gateway.stop());
  const kb = gateway.mcpServer('kb', { connect: server.connect, ...options });
  await gateway.start();
  const tools = kb.tools();
  await clock.advance(1000);
  expect(await tools).toMatchObject({ ok: true });
  server.asked.splice(0);
  /** Calls a tool, and lets so much time pass. */
  const call = async (name: string, ms = 0, signal?: AbortSignal) => {
    const outcome = kb.call({ name, arguments: { text: 'x' } }, { signal });
    await clock.advance(ms);
    return outcome;
  };
  return { clock, server, gateway, kb, call };
}

const texts = (outcome: unknown): unknown =>
  (outcome as { value?: { content?: { text?: string }[] } }).value?.content?.[0]?.text;

describe('a tool that takes calls as tasks alone', () => {
  it('[P-10] is called as one, asked for at its own interval, and answered by its result', async () => {
    const { server, clock, call } = await start();
    const outcome = call('need');
    await clock.advance(499);
    expect(server.methods()).toEqual(['tools/call']);
    expect(server.asked[0]?.params['task']).toEqual({ ttl: 360_000 });
    await clock.advance(1);
    expect(server.methods()).toEqual(['tools/call', 'tasks/get']);
    server.move({ status: 'completed', result: said('the answer') });
    await clock.advance(500);
    expect(texts(await outcome)).toBe('the answer');
    expect(server.methods()).toEqual(['tools/call', 'tasks/get', 'tasks/get', 'tasks/result']);
  });

  it('[P-10] is not where `tasks` is `never`', async () => {
    const { server, call } = await start({ tasks: 'never' });
    expect(await call('need', 1)).toMatchObject({ ok: false, failure: { kind: 'permanent' } });
    expect(server.methods()).toEqual(['tools/call']);
  });

  it('[P-10] passes the failure of the tool on', async () => {
    const { server, clock, call } = await start();
    const outcome = call('need');
    await clock.advance(1);
    server.move({ status: 'failed', result: { ...said('no luck'), isError: true } });
    await clock.advance(500);
    expect(await outcome).toMatchObject({ ok: false, failure: { reason: 'tool_error', message: 'no luck' } });
  });

  it('[P-10] that failed without a result says what its status says', async () => {
    const { server, clock, call } = await start();
    const outcome = call('need');
    await clock.advance(1);
    server.move({ status: 'failed', statusMessage: 'the disk is full' });
    await clock.advance(500);
    const message = 'Task has no result stored (the task says: the disk is full)';
    expect(await outcome).toMatchObject({ ok: false, failure: { message } });
  });

  it('[P-10] that its server cancelled ends its call, and nothing is repeated', async () => {
    const { server, clock, call } = await start();
    const outcome = call('need');
    await clock.advance(1);
    server.move({ status: 'cancelled', statusMessage: 'by an operator' });
    await clock.advance(500);
    const message = 'The server cancelled the task: by an operator';
    expect(await outcome).toMatchObject({ ok: false, failure: { message, outcome: 'unknown' } });
    expect(server.tasks.size).toBe(1);
  });
});

describe('a tool that allows tasks', () => {
  it('[P-10] is called without one, unless that is wanted', async () => {
    const { server, call } = await start();
    expect(texts(await call('may', 1))).toBe('may at once');
    expect(server.tasks.size).toBe(0);
    const other = await start({ tasks: 'optional' });
    const outcome = other.call('may');
    await other.clock.advance(1);
    other.server.move({ status: 'completed', result: said('later') });
    await other.clock.advance(500);
    expect(texts(await outcome)).toBe('later');
    expect(texts(await other.call('plain', 1))).toBe('plain at once');
  });
});

describe('the life of a task', () => {
  it('[P-10] is a sign of life where its status moves, and none where it stands still', async () => {
    const limits = { idleMs: 2100, attemptMs: 60_000, overallMs: 60_000 };
    const { server, clock, call } = await start({ policy: { limits } });
    const outcome = call('need');
    for (let step = 1; step <= 5; step++) {
      await clock.advance(1500);
      server.move({ statusMessage: `step ${step}` });
    }
    // Now it says the same for its idle limit.
    let isOver = false;
    void outcome.then(() => (isOver = true));
    await clock.advance(1000);
    expect(isOver).toBe(false);
    await clock.advance(3000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', reason: 'idle_timeout' } });
  });

  it('[P-10] ends with the call: a limit, and a caller that cancels, are told to the server by tasks/cancel', async () => {
    const { server, clock, call } = await start({ policy: { limits: { attemptMs: 3000, overallMs: 3000 } } });
    const outcome = call('need', 3100);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'timeout' } });
    await clock.advance(1);
    expect(server.tasks.get('task-1')?.status).toBe('cancelled');
    const own = new AbortController();
    const second = call('need', 700, own.signal);
    await clock.advance(1);
    own.abort(new Error('enough'));
    expect(await second).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    await clock.advance(1);
    expect(server.tasks.get('task-2')?.status).toBe('cancelled');
    expect(server.asked.some(({ method }) => method === 'notifications/cancelled')).toBe(false);
    const { length } = server.asked;
    await clock.advance(5000);
    // Nobody asks for it any more.
    expect(server.asked.slice(length).filter(({ method }) => method.startsWith('tasks/'))).toEqual([]);
  });

  it('[P-10] is not waited for beyond its time to live', async () => {
    const { server, clock, call } = await start({ policy: { limits: { idleMs: 60_000 } } });
    const outcome = call('need');
    await clock.advance(1);
    server.move({ ttl: 5000 });
    await clock.advance(6000);
    const message = 'The task did not end within its time to live of 5000 ms';
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', message, outcome: 'unknown' } });
  });

  it('[P-10] that asks its client has its result asked for at once, with which the question comes', async () => {
    const { server, clock, call } = await start();
    const outcome = call('need');
    await clock.advance(1);
    server.move({ status: 'input_required' });
    await clock.advance(500);
    expect(server.methods()).toEqual(['tools/call', 'tasks/get', 'tasks/result']);
    server.move({ status: 'completed', result: said('asked and done') });
    await clock.advance(1);
    expect(texts(await outcome)).toBe('asked and done');
    expect(server.methods().filter((method) => method === 'tasks/result')).toHaveLength(1);
  });
});

describe('a task whose server is lost', () => {
  it('[P-10] is asked for again where the server goes on, and is not begun anew', async () => {
    const { server, clock, call } = await start();
    const outcome = call('need');
    await clock.advance(600);
    server.drop();
    await clock.advance(2000);
    expect(server.tasks.size).toBe(1);
    server.move({ status: 'completed', result: said('after all') });
    await clock.advance(1000);
    expect(texts(await outcome)).toBe('after all');
    expect(server.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('[P-10] is lost as any call is where the server does not know it any more', async () => {
    const { server, clock, call } = await start();
    const outcome = call('need');
    await clock.advance(600);
    server.tasks.clear();
    server.drop();
    await clock.advance(3000);
    const told = 'Failed to retrieve task: Task not found';
    const message = `The server does not know the task of this call any more: ${told}`;
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'crash', outcome: 'unknown', message } });
    // It may change things: nobody makes it again.
    expect(server.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });
});
