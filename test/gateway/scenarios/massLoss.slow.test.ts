import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInThisContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Fact, type Gateway, type McpIntegration } from '../../../src/index.ts';

const ok = { name: 'ok', arguments: {} };

/** Answers what an MCP server is asked; as text, as a process of its own runs it too. */
const answerOf = `({ method, params }) =>
  method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } }
    : method === 'tools/list'
      ? { tools: [{ name: 'ok', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] }
      : { content: [] }`;

const stdioServer = `
const answer = ${answerOf};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) }));
});`;

/** A gateway, with what it tells of restarts, crashes and quarantines, and of processes. */
function startGateway(): { readonly gateway: Gateway; readonly facts: Fact[] } {
  const gateway = createGateway({ store: ':memory:', logger: false });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  onTestFinished(() => gateway.stop());
  return { gateway, facts };
}

const patient = {
  restartWaitMs: '120s',
  repeatWaitMs: '120s',
  attemptMs: '120s',
  overallMs: '240s',
  idleMs: '120s',
} as const;

/** Calls each server once. @returns how often there was each outcome. */
async function callAll(servers: readonly McpIntegration[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(servers.map((server) => server.call(ok)))) {
    const key = outcome.ok
      ? 'ok'
      : `${outcome.failure.kind} ${outcome.failure.reason ?? ''}: ${outcome.failure.message}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

const count = (facts: readonly Fact[], ...types: readonly Fact['type'][]): number =>
  facts.filter(({ type }) => types.includes(type)).length;

describe('a loss of many servers at once', () => {
  it('[V-3] [M-6] has 45 servers back that were each killed once, and gives none up', async () => {
    const { gateway, facts } = startGateway();
    const servers = Array.from({ length: 45 }, (_, at) =>
      gateway.mcpServer(`m${at}`, {
        command: process.execPath,
        args: ['-e', stdioServer],
        handshakeMs: '120s',
        policy: patient,
      }),
    );
    await gateway.start();
    expect(await callAll(servers)).toEqual({ ok: 45 });
    const pids = facts.flatMap((fact) => (fact.type === 'process.started' ? [fact.pid] : []));
    expect(pids).toHaveLength(45);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await expect.poll(() => count(facts, 'child.crashed'), { timeout: 60_000 }).toBe(45);
    expect(await callAll(servers)).toEqual({ ok: 45 });
    expect(count(facts, 'process.started')).toBe(90);
    expect(count(facts, 'child.quarantined', 'supervisor.gave_up')).toBe(0);
  }, 300_000);

  it('[V-3] [M-4] begins 40 remote sessions anew that their host forgot: nothing crashed, nothing was restarted', async () => {
    let sessions = new Set<string>();
    let greeted = 0;
    const answer = runInThisContext(answerOf) as (message: unknown) => unknown;
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        const end = (status: number, body?: unknown, session?: string): void => {
          const headers = {
            'content-type': 'application/json',
            ...(session !== undefined && { 'mcp-session-id': session }),
          };
          response.writeHead(status, headers).end(body === undefined ? undefined : JSON.stringify(body));
        };
        if (request.method === 'DELETE') return end(200);
        if (request.method !== 'POST') return end(405);
        const message = JSON.parse(text) as { id?: number; method: string };
        if (message.method === 'server/discover') return end(400);
        const session = message.method === 'initialize' ? `s${++greeted}` : request.headers['mcp-session-id'];
        if (message.method === 'initialize') sessions.add(String(session));
        else if (!sessions.has(String(session))) return end(404);
        if (message.id === undefined) return end(202);
        end(200, { jsonrpc: '2.0', id: message.id, result: answer(message) }, String(session));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const { gateway, facts } = startGateway();
    const servers = Array.from({ length: 40 }, (_, at) =>
      gateway.mcpServer(`m${at}`, { url: `http://127.0.0.1:${port}/mcp`, handshakeMs: '120s', policy: patient }),
    );
    await gateway.start();
    expect(await callAll(servers)).toEqual({ ok: 40 });
    for (let round = 1; round <= 3; round++) {
      sessions = new Set();
      expect(await callAll(servers)).toEqual({ ok: 40 });
      expect(greeted).toBe(40 * (round + 1));
    }
    const troubles = ['child.crashed', 'child.restarting', 'child.quarantined', 'supervisor.gave_up'] as const;
    expect(count(facts, ...troubles)).toBe(0);
    const nodes = gateway.tree().children?.filter(({ id }) => id.startsWith('mcp:'));
    expect(nodes?.map(({ restarts }) => restarts)).toEqual(Array.from({ length: 40 }, () => 0));
  }, 300_000);
});
