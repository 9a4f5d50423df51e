import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLegacyTasks, startModernTasks, said } from '../../../support/taskServers.ts';
import { startHub } from '../startHub.ts';

const everything = {
  command: process.execPath,
  args: [
    join(
      dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
      'dist',
      'index.js',
    ),
  ],
};
const remote = (url: string) => ({ command: undefined, args: undefined, remote: { url } });

describe('tasks through a hub', () => {
  it('[P-10] go to the server that began them, whatever their ids are', async () => {
    const servers = [await startLegacyTasks(), await startLegacyTasks()] as const;
    const { ask, open, toolNames } = await startHub({
      one: remote(servers[0].url),
      two: remote(servers[1].url),
      plain: {},
    });
    expect((await open()).result?.['capabilities']).toMatchObject({
      tasks: { cancel: {}, requests: { tools: { call: {} } } },
    });
    await toolNames();
    const begun = await ask('tools/call', { name: 'two__need', arguments: {}, task: {} });
    expect(begun.result).toMatchObject({ task: { taskId: 'task-1' } });
    servers[1].move({ status: 'completed', result: said('of two') });
    expect((await ask('tasks/get', { taskId: 'task-1' })).result).toMatchObject({ status: 'completed' });
    expect((await ask('tasks/result', { taskId: 'task-1' })).result).toMatchObject(said('of two'));
    expect(servers[0].asked.some(({ method }) => method.startsWith('tasks/'))).toBe(false);
    // An id may be a secret between a client and its server: nobody else is asked for one that is not known.
    expect((await ask('tasks/get', { taskId: 'task-9' })).error?.code).toBe(-32_602);
    expect(servers.flatMap(({ asked }) => asked).some(({ params }) => params['taskId'] === 'task-9')).toBe(false);
    expect((await ask('tasks/list')).error?.code).toBe(-32_601);
  });

  it('[P-10] are awaited for a client that knows none', async () => {
    const server = await startLegacyTasks();
    const { ask, open, toolNames } = await startHub({ one: remote(server.url), plain: {} });
    await open();
    await toolNames();
    const answer = ask('tools/call', { name: 'one__need', arguments: {} });
    while (server.tasks.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    server.move({ status: 'completed', result: said('for one who knows none') });
    expect((await answer).result).toMatchObject(said('for one who knows none'));
  });

  it('[P-10] pass in the stateless era, and no server hears the id of another one’s', async () => {
    const servers = [await startModernTasks(), await startModernTasks()] as const;
    const { ask, raw, heard } = await startHub({ one: remote(servers[0].url), two: remote(servers[1].url) });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const discovered = await ask('server/discover', { _meta: meta });
    expect(discovered.result?.['capabilities']).toMatchObject({ extensions: { 'io.modelcontextprotocol/tasks': {} } });
    const begun = await ask('tools/call', { name: 'two__slow', arguments: {}, _meta: meta });
    expect(begun.result).toMatchObject({ resultType: 'task', taskId: 'task-1' });
    expect((await ask('tasks/get', { taskId: 'task-1', _meta: meta })).result).toMatchObject({ status: 'working' });
    raw({ id: 'l', method: 'subscriptions/listen', params: { notifications: { taskIds: ['task-1'] }, _meta: meta } });
    await heard('notifications/subscriptions/acknowledged');
    const listens = servers.map(({ asked }) => asked.find(({ method }) => method === 'subscriptions/listen'));
    expect(listens.map((each) => each?.params['notifications'])).toEqual([{ taskIds: [] }, { taskIds: [] }]);
  });

  it('[P-10] of the reference server are followed by the official client (SDK 1) to their end', async () => {
    const hub = await startHub({ everything, plain: {} });
    const transport: Transport = {
      start: () => Promise.resolve(),
      send: (message) => Promise.resolve(void hub.input.write(`${JSON.stringify(message)}\n`)),
      close: () => Promise.resolve(),
    };
    let rest = '';
    hub.output.on('data', (chunk: unknown) => {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) transport.onmessage?.(JSON.parse(line) as never);
    });
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    await client.connect(transport);
    await client.listTools();
    const name = 'everything__simulate-research-query';
    const seen: string[] = [];
    const stream = client.experimental.tasks.callToolStream(
      { name, arguments: { topic: 'tea' } },
      CallToolResultSchema,
    );
    for await (const { type, ...message } of stream) seen.push(type === 'result' ? JSON.stringify(message) : type);
    expect(seen[0]).toBe('taskCreated');
    expect(seen).toContain('taskStatus');
    expect(seen.at(-1)).toContain('Research Report: tea');
  });
});
