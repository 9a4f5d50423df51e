import { describe, expect, it } from 'vitest';
import { createHangWatch } from '../../../src/actors/mcp/hangWatch.ts';
import type { McpConnection } from '../../../src/actors/mcp/mcpClient.ts';
import type { FailureFacts } from '../../../src/policy/failures/failure.ts';
import { hanging, isAlive, requestContext, startServer, textOf } from './mcpHarness.ts';

/** A connection whose pings are answered by the test. */
function fakeConnection() {
  const pings: ((answer: boolean) => void)[] = [];
  const kills: FailureFacts[] = [];
  const connection: McpConnection = {
    pid: 7,
    server: undefined,
    lateAnswers: 0,
    modern: false,
    capabilities: {},
    callTool: () => Promise.reject(new Error('unused')),
    listTools: () => Promise.resolve([]),
    onToolsChanged: () => undefined,
    request: () => Promise.resolve({}),
    ping: () => new Promise((resolve) => pings.push(resolve)),
    kill: (facts) => kills.push(facts),
  };
  return { connection, pings, kills };
}

describe('the hang watch', () => {
  it('[P-1] kills a stopped server, which ends as hung', async () => {
    const server = startServer({}, { pingMs: 200 });
    const connection = await server.ready;
    const watch = createHangWatch({ connection: () => connection });
    process.kill(server.pid(), 'SIGSTOP');
    expect(await watch.suspect()).toBe('killed');
    expect(await server.done).toMatchObject({ error: { facts: { kind: 'crash', reason: 'hang' } } });
    expect(isAlive(server.pid())).toBe(false);
  });

  it('[P-1] leaves a server alone whose tool hangs while it answers', async () => {
    const connection = await startServer(hanging).ready;
    const { context } = requestContext();
    void connection.callTool({ name: 'hang' }, context).catch(() => undefined);
    expect(await createHangWatch({ connection: () => connection }).suspect()).toBe('alive');
    const echo = await connection.callTool({ name: 'echo', arguments: { text: 'still here' } }, context);
    expect(textOf(echo)).toBe('still here');
  });

  it('[P-1] looks once into calls that fall silent together', async () => {
    const { connection, pings, kills } = fakeConnection();
    const watch = createHangWatch({ connection: () => connection });
    const verdicts = [watch.suspect(), watch.suspect()];
    pings[0]?.(false);
    expect(await Promise.all(verdicts)).toEqual(['killed', 'killed']);
    expect(pings).toHaveLength(1);
    expect(kills).toMatchObject([{ kind: 'crash', reason: 'hang' }]);
  });

  it('[P-1] looks again into a suspicion that comes later', async () => {
    const { connection, pings, kills } = fakeConnection();
    const watch = createHangWatch({ connection: () => connection });
    const first = watch.suspect();
    pings[0]?.(true);
    expect(await first).toBe('alive');
    const second = watch.suspect();
    pings[1]?.(false);
    expect(await second).toBe('killed');
    expect(kills).toHaveLength(1);
  });

  it('[P-1] does not kill a new incarnation for the silence of the old one', async () => {
    const old = fakeConnection();
    const fresh = fakeConnection();
    let current: McpConnection | undefined = old.connection;
    const watch = createHangWatch({ connection: () => current });
    const first = watch.suspect();
    current = fresh.connection;
    const second = watch.suspect();
    old.pings[0]?.(false);
    fresh.pings[0]?.(true);
    expect(await Promise.all([first, second])).toEqual(['gone', 'alive']);
    expect([...old.kills, ...fresh.kills]).toEqual([]);
  });

  it('has nothing to look into while there is no connection', async () => {
    expect(await createHangWatch({ connection: () => undefined }).suspect()).toBe('gone');
  });
});
