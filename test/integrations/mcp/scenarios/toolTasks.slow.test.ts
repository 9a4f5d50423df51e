import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type McpIntegration, type RemoteMcpOptions } from '../../../../src/index.ts';
import { startModernTasks } from '../../../support/taskServers.ts';

async function open(url: string, options: Partial<RemoteMcpOptions> = {}): Promise<McpIntegration> {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const kb = gateway.mcpServer('kb', { url, ...options });
  await gateway.start();
  expect(await kb.tools()).toMatchObject({ ok: true });
  return kb;
}

const text = (value: string) => ({ ok: true, value: { content: [{ type: 'text', text: value }] } });

describe('a server of the stateless era that makes tasks (official SDK 2)', () => {
  it('[P-10] has them asked for to their end where it serves nobody else, and their names in the headers', async () => {
    const server = await startModernTasks({ strict: true });
    const kb = await open(server.url);
    expect(await kb.call({ name: 'slow', arguments: {} })).toMatchObject(text('hello nobody'));
    const calls = server.methods().filter((method) => method !== 'tools/list');
    expect(calls).toEqual(['tools/call', 'tools/call', 'tasks/get', 'tasks/get']);
    expect(server.asked.filter(({ method }) => method === 'tasks/get').map(({ name }) => name)).toEqual([
      'task-1',
      'task-1',
    ]);
    expect(await kb.call({ name: 'slow', arguments: {} })).toMatchObject(text('hello nobody'));
    // It is known by now.
    expect(server.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(3);
  });

  it('[P-10] has none where it serves everybody, unless they are wanted', async () => {
    const server = await startModernTasks();
    expect(await (await open(server.url)).call({ name: 'slow' })).toMatchObject(text('slow at once'));
    const kb = await open(server.url, { tasks: 'optional' });
    expect(await kb.call({ name: 'slow', arguments: {} })).toMatchObject(text('hello nobody'));
  });

  it('[P-10] has the error of a task told, and a question that nobody can answer ends its call', async () => {
    const server = await startModernTasks({ strict: true });
    const kb = await open(server.url);
    const failure = { message: 'out of luck', code: -32_603 };
    expect(await kb.call({ name: 'slow', arguments: { fail: true } })).toMatchObject({ ok: false, failure });
    const message = 'The task asks its client for something that nobody can answer here';
    const failed = { kind: 'permanent', message };
    expect(await kb.call({ name: 'slow', arguments: { ask: true } })).toMatchObject({ ok: false, failure: failed });
  });
});

describe('the reference server (official SDK 1, stdio)', () => {
  it('[P-10] answers the call of a tool that is a task by its report', async () => {
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
    const args = [join(dirname(manifest), 'dist', 'index.js')];
    const kb = gateway.mcpServer('everything', { command: process.execPath, args });
    await gateway.start();
    const done = await kb.call({ name: 'simulate-research-query', arguments: { topic: 'tea' } });
    expect(JSON.stringify(done)).toContain('Research Report: tea');
  });
});
