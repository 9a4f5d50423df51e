import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { said, startLegacyTasks, startModernTasks } from '../../../support/taskServers.ts';
import { type Message, type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const everything = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist',
  'index.js',
);
const field = (name: string) => `io.modelcontextprotocol/${name}`;
const meta = (knows: boolean) => ({
  [field('protocolVersion')]: '2026-07-28',
  [field('clientInfo')]: { name: 'test', version: '1' },
  [field('clientCapabilities')]: { elicitation: {}, ...(knows && { extensions: { [field('tasks')]: {} } }) },
});

/** Asks again and again until it is so. */
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

async function startLegacy(options = {}) {
  const server = await startLegacyTasks();
  const proxy = await startProxy({ command: undefined, args: undefined, remote: { url: server.url }, ...options });
  await proxy.open();
  server.asked.splice(0);
  const begun = async (count = 1): Promise<void> => {
    await until(() => server.tasks.size === count);
    server.move({ pollInterval: 100 }, `task-${count}`);
  };
  return { server, proxy, begun };
}

const modernCall = (proxy: StartedProxy, args: object, knows = false, more: object = {}): Promise<Message> =>
  proxy.ask('tools/call', { name: 'slow', arguments: args, _meta: meta(knows), ...more });

describe('a client that knows no tasks, before a server that has them (2025-11-25)', () => {
  it('[P-10] is answered by the result of the task, under the id of its request', async () => {
    const { server, proxy, begun } = await startLegacy();
    const answer = proxy.call('need', { text: 'x' }, 'mine');
    await begun();
    server.move({ status: 'completed', result: said('the report') });
    expect(await answer).toMatchObject({ id: 'mine', result: said('the report') });
    expect(server.asked[0]?.params).toMatchObject({ name: 'need', task: { ttl: 360_000 } });
    expect(server.methods()).toContain('tasks/get');
    expect(proxy.facts.filter(({ type }) => type === 'call.failed')).toEqual([]);
  });

  it('[P-10] is told what failed as if it had been no task', async () => {
    const { server, proxy, begun } = await startLegacy();
    const failing = proxy.call('need', {});
    await begun();
    server.move({ status: 'failed', error: { code: -32_000, message: 'no disk', data: 7 } });
    expect(await failing).toMatchObject({ error: { code: -32_000, message: 'no disk', data: 7 } });
    const cancelled = proxy.call('need', {});
    await begun(2);
    server.move({ status: 'cancelled' }, 'task-2');
    expect(textIn(await cancelled)).toContain('The server cancelled the task');
  });

  it('[P-10] that cancels has the task cancelled, and nothing is said of a request that has its answer', async () => {
    const { server, proxy, begun } = await startLegacy();
    void proxy.call('need', {}, 'gone');
    await begun();
    await until(() => server.methods().includes('tasks/get'));
    proxy.notify('notifications/cancelled', { requestId: 'gone', reason: 'enough' });
    await until(() => server.tasks.get('task-1')?.status === 'cancelled');
    expect(server.asked.some(({ method }) => method === 'notifications/cancelled')).toBe(false);
  });

  it('[P-10] is answered though the session of the server was lost meanwhile: the task is asked for again', async () => {
    const { server, proxy, begun } = await startLegacy();
    const answer = proxy.call('need', {});
    await begun();
    await until(() => server.methods().includes('tasks/get'));
    server.forgetSessions();
    const before = server.methods().length;
    await until(() => server.methods().slice(before).includes('tasks/get'));
    server.move({ status: 'completed', result: said('after all') });
    expect(textIn(await answer)).toBe('after all');
    expect(server.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('[P-10] is left alone where `tasks` is `never`, and asked for optional ones where it is `optional`', async () => {
    const never = await startLegacy({ tasks: 'never' });
    expect((await never.proxy.call('need', {})).error?.code).toBe(-32_601);
    const { server, proxy, begun } = await startLegacy({ tasks: 'optional' });
    const answer = proxy.call('may', {});
    await begun();
    server.move({ status: 'completed', result: said('later') });
    expect(textIn(await answer)).toBe('later');
  });
});

describe('a client that knows tasks', () => {
  it('[P-10] has its own ones untouched (2025-11-25), and hears from a server that does not know them any more', async () => {
    const { server, proxy } = await startLegacy();
    const { result } = await proxy.ask('tools/call', { name: 'need', arguments: {}, task: { ttl: 7 } });
    expect(result).toMatchObject({ task: { taskId: 'task-1', status: 'working' } });
    expect(server.asked[0]?.params['task']).toEqual({ ttl: 7 });
    expect((await proxy.ask('tasks/get', { taskId: 'task-1' })).result).toMatchObject({ status: 'working' });
    server.move({ status: 'completed', result: said('mine') });
    expect(textIn(await proxy.ask('tasks/result', { taskId: 'task-1' }))).toBe('mine');
    server.tasks.clear();
    server.forgetSessions();
    expect((await proxy.ask('tasks/get', { taskId: 'task-1' })).error?.code).toBe(-32_602);
  });

  it('[P-10] has its own ones untouched in the stateless era', async () => {
    const server = await startModernTasks({ strict: true });
    const proxy = await startProxy({ command: undefined, args: undefined, remote: { url: server.url } });
    const { result } = await modernCall(proxy, {}, true);
    expect(result).toMatchObject({ resultType: 'task', taskId: 'task-1' });
    const get = { taskId: 'task-1', _meta: meta(true) };
    expect((await proxy.ask('tasks/get', get)).result).toMatchObject({ status: 'working' });
    expect((await proxy.ask('tasks/get', get)).result).toMatchObject({
      status: 'completed',
      result: said('hello nobody'),
    });
  });
});

describe('a client of the stateless era that knows no tasks', () => {
  it('[P-10] is answered by the result, where the server serves nobody else', async () => {
    const server = await startModernTasks({ strict: true });
    const proxy = await startProxy({ command: undefined, args: undefined, remote: { url: server.url } });
    const answer = await modernCall(proxy, {});
    expect(answer.result).toMatchObject({ resultType: 'complete', ...said('hello nobody') });
    expect(server.asked.filter(({ method }) => method === 'tasks/get').every(({ knows }) => knows)).toBe(true);
  });

  it('[P-10] is asked what the task asks in the words of its era, and brings its answer to the same task', async () => {
    const server = await startModernTasks({ strict: true });
    const proxy = await startProxy({ command: undefined, args: undefined, remote: { url: server.url } });
    const first = await modernCall(proxy, { ask: true });
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { name: { method: 'elicitation/create' } },
    });
    const inputResponses = { name: { action: 'accept', content: { name: 'Ann' } } };
    const { requestState } = first.result ?? {};
    const second = await modernCall(proxy, { ask: true }, false, { inputResponses, requestState });
    expect(second.result).toMatchObject({ resultType: 'complete', ...said('hello Ann') });
    expect(server.tasks.size).toBe(1);
  });
});

describe('the reference server behind the proxy (official SDK 1, stdio)', () => {
  it('[P-10] asks its client in the middle of a task, and the call has one answer', async () => {
    const proxy = await startProxy({ args: [everything] });
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'test', version: '1' },
    };
    await proxy.ask('initialize', params);
    proxy.notify('notifications/initialized');
    await proxy.ask('tools/list');
    const answer = proxy.call('simulate-research-query', { topic: 'python', ambiguous: true });
    const { id } = await proxy.seen(({ method }) => method === 'elicitation/create');
    proxy.raw(
      JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { interpretation: 'snake' } } }),
    );
    expect(textIn(await answer)).toContain('Research Report: python (snake)');
  });
});
