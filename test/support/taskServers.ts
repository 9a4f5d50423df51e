import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { McpServerTransport } from '../../src/actors/mcp/transportLink.ts';

type Fields = Record<string, unknown>;

export interface Asked {
  readonly method: string;
  readonly params: Fields;
}

/** A task as the server has it: a test moves it on. */
export interface ServedTask {
  status: string;
  statusMessage?: string;
  result?: Fields;
  error?: Fields;
  ttl?: number | null;
  pollInterval?: number;
}

export const said = (text: string): Fields => ({ content: [{ type: 'text', text }] });

/**
 * A server of 2025-11-25 in this process whose tasks outlive its connections: `need` takes calls as tasks alone, `may` allows them, `plain` is never one.
 */
export function legacyTaskServer() {
  const asked: Asked[] = [];
  const tasks = new Map<string, ServedTask>();
  const waiting = new Map<string, (() => void)[]>();
  let close: () => void = () => undefined;
  let say: (message: Fields) => void = () => undefined;
  let isMute = false;
  const tool = (name: string, taskSupport?: string): Fields => ({
    name,
    inputSchema: { type: 'object' },
    annotations: { destructiveHint: true },
    ...(taskSupport !== undefined && { execution: { taskSupport } }),
  });
  const tools = [tool('need', 'required'), tool('may', 'optional'), tool('plain')];
  const taskFields = (taskId: string, task: ServedTask): Fields => ({
    ...{ taskId, createdAt: '2026-11-30T00:00:00Z', lastUpdatedAt: new Date().toISOString() },
    ...{ ttl: 60_000, pollInterval: 500, ...task, result: undefined, error: undefined },
  });
  const call = ({ name, task }: Fields): Fields => {
    if (task !== undefined && name !== 'plain') {
      const taskId = `task-${tasks.size + 1}`;
      tasks.set(taskId, { status: 'working' });
      return { result: { task: taskFields(taskId, { status: 'working' }) } };
    }
    if (name !== 'need') return { result: said(`${String(name)} at once`) };
    return { error: { code: -32_601, message: 'Tool need requires task augmentation' } };
  };
  const payload = (task: ServedTask): Fields =>
    task.result === undefined
      ? { error: task.error ?? { code: -32_603, message: 'Task has no result stored' } }
      : { result: { ...task.result, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'it' } } } };
  const answer = (method: string, params: Fields): Fields | undefined | Promise<Fields> => {
    const taskId = String(params['taskId']);
    const task = tasks.get(taskId);
    const capabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
    if (method === 'initialize')
      return { result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'tasks', version: '1' } } };
    if (method === 'ping') return { result: {} };
    if (method === 'tools/list') return { result: { tools } };
    if (method === 'tools/call') return call(params);
    if (!method.startsWith('tasks/')) return { error: { code: -32_601, message: 'Method not found' } };
    if (isMute) return undefined;
    if (task === undefined) return { error: { code: -32_602, message: 'Failed to retrieve task: Task not found' } };
    if (method === 'tasks/cancel') task.status = 'cancelled';
    if (method !== 'tasks/result') return { result: taskFields(taskId, task) };
    if (['completed', 'failed', 'cancelled'].includes(task.status)) return payload(task);
    return new Promise((resolve) => {
      const open = waiting.get(taskId) ?? [];
      waiting.set(taskId, [...open, () => resolve(payload(task))]);
    });
  };
  const connect = (): McpServerTransport => {
    let isOver = false;
    const transport: McpServerTransport = {
      start: () => Promise.resolve(),
      close() {
        if (isOver) return Promise.resolve();
        isOver = true;
        transport.onclose?.();
        return Promise.resolve();
      },
      send({ id, method, params = {} }: Fields & { readonly params?: Fields }) {
        if (typeof method !== 'string') {
          asked.push({ method: 'answer', params: { id } });
          return Promise.resolve();
        }
        asked.push({ method, params });
        if (id === undefined) return Promise.resolve();
        void Promise.resolve(answer(method, params)).then((said) => said && say({ id, ...said }));
        return Promise.resolve();
      },
    };
    close = () => void transport.close();
    say = (message) =>
      queueMicrotask(() => {
        if (!isOver) transport.onmessage?.({ jsonrpc: '2.0', ...message });
      });
    return transport;
  };
  return {
    connect,
    asked,
    tasks,
    methods: (): readonly string[] => asked.map(({ method }) => method).filter((method) => method.startsWith('t')),
    /** Ends the connection; the tasks stay. */
    drop: (): void => close(),
    /** Says nothing to questions for tasks any more. */
    mute: (): void => void (isMute = true),
    say: (message: Fields): void => say(message),
    /** Moves a task on; one that has ended answers who waits for its result. */
    move(change: Partial<ServedTask>, taskId = 'task-1'): void {
      Object.assign(tasks.get(taskId) ?? {}, change);
      const isOver = ['completed', 'failed', 'cancelled'].includes(change.status ?? '');
      if (isOver) for (const resolve of waiting.get(taskId)?.splice(0) ?? []) resolve();
    },
  };
}

/**
 * A server of the stateless era on a port, of the official SDK 2: its tool `slow` is a task, which asks for a name where `ask` is true.
 * @param strict - who does not know tasks is not served.
 */
export async function startModernTasks({ strict = false, polls = 1 } = {}) {
  const extension = 'io.modelcontextprotocol/tasks';
  const asked: (Asked & { readonly name: string | null; readonly knows: boolean })[] = [];
  const tasks = new Map<string, Fields>();
  const any = z.looseObject({});
  const found = ({ taskId }: Fields): Fields => {
    const task = tasks.get(String(taskId));
    if (task === undefined)
      throw Object.assign(new Error('Failed to retrieve task: Task not found'), { code: -32_602 });
    return task;
  };
  const inputRequests = {
    name: {
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Name?', requestedSchema: { type: 'object' } },
    },
  };
  const handler = createMcpHandler(() => {
    const capabilities = { extensions: { [extension]: {} } };
    const server = new McpServer({ name: 'tasks', version: '2' }, { capabilities });
    const inputSchema = z.object({ ask: z.boolean().optional(), fail: z.boolean().optional() });
    server.registerTool('slow', { inputSchema }, ({ ask, fail }) => {
      if (asked.at(-1)?.knows !== true) return said('slow at once') as never;
      const taskId = `task-${tasks.size + 1}`;
      const at = new Date().toISOString();
      const task = { taskId, createdAt: at, lastUpdatedAt: at, ttlMs: 60_000, pollIntervalMs: 1, polls, fail };
      tasks.set(taskId, {
        ...task,
        status: 'working',
        ...(ask === true && { status: 'input_required', inputRequests }),
      });
      return { resultType: 'task', ...task, status: 'working' } as never;
    });
    const low = server.server;
    low.setRequestHandler('tasks/get', { params: any }, (params) => {
      const task = found(params);
      if (task['status'] === 'working' && --(task['polls'] as number) < 0) {
        if (task['fail'] === true)
          Object.assign(task, { status: 'failed', error: { code: -32_603, message: 'out of luck' } });
        else
          Object.assign(task, {
            status: 'completed',
            result: said(`hello ${(task['name'] as string | undefined) ?? 'nobody'}`),
          });
      }
      return task;
    });
    // The SDK takes the answers out of the params, also of a method that it does not know.
    low.setRequestHandler('tasks/update', { params: any }, (params, { mcpReq }) => {
      const { name } = mcpReq.inputResponses as unknown as { readonly name: { readonly content?: Fields } };
      Object.assign(found(params), { status: 'working', name: name.content?.['name'], inputRequests: undefined });
      return {};
    });
    low.setRequestHandler('tasks/cancel', { params: any }, (params) => {
      found(params)['status'] = 'cancelled';
      return {};
    });
    return server;
  });
  const take = async (request: Request): Promise<Response> => {
    const {
      id,
      method,
      params = {},
    } = JSON.parse((await request.clone().text()) || '{}') as Fields & { params?: Fields };
    const meta = (params['_meta'] ?? {}) as Record<string, { readonly extensions?: Fields } | undefined>;
    const knows = meta['io.modelcontextprotocol/clientCapabilities']?.extensions?.[extension] !== undefined;
    asked.push({ method: String(method), params, name: request.headers.get('mcp-name'), knows });
    const isRefused = !knows && ((strict && method === 'tools/call') || String(method).startsWith('tasks/'));
    if (!isRefused) return handler.fetch(request);
    const data = { requiredCapabilities: { extensions: { [extension]: {} } } };
    const error = { code: -32_021, message: 'Missing required client capability', data };
    return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 });
  };
  const http = createServer(getRequestListener(take) as never);
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const methods = (): readonly string[] => asked.map(({ method }) => method).filter((method) => method.startsWith('t'));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, asked, tasks, methods };
}

/** A server of 2025-11-25 on a port, by sessions that `forgetSessions` ends. Its tasks stay; it asks its clients nothing. */
export async function startLegacyTasks() {
  const server = legacyTaskServer();
  let session = 1;
  const http = createServer((request, response) => {
    const own = `session-${session}`;
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const message = JSON.parse(body) as Fields;
      const isFirst = message['method'] === 'initialize';
      if (!isFirst && request.headers['mcp-session-id'] !== own) return void response.writeHead(404).end();
      if (message['id'] === undefined) return void response.writeHead(202).end();
      const transport = server.connect();
      transport.onmessage = (answer) => {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': own });
        response.end(JSON.stringify(answer));
      };
      void transport.send(message as never);
    });
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return { ...server, url, forgetSessions: () => void session++ };
}
