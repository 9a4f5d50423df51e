import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type McpIntegrationOptions } from '../../../../src/index.ts';
import type { FaultyMcpServerOptions } from '../../../../testing/faultyMcpServer.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

/** A gateway with a server that does wrong what the script says; its starts are counted. */
async function startKb(script: FaultyMcpServerOptions = {}, options: Partial<McpIntegrationOptions> = {}) {
  // A server may take its time to come up: a busy machine is no failure.
  const gateway = createGateway({ policies: { presets: { mcp: { restartWaitMs: 25_000 } } } });
  onTestFinished(() => gateway.stop());
  const startsFile = join(temporaryDirectory(), 'starts');
  const kb = gateway.mcpServer('kb', { ...faultyServer({ startsFile, ...script }), ...options });
  await gateway.start();
  const names = async (): Promise<string[] | undefined> => {
    const outcome = await kb.tools();
    return outcome.ok ? outcome.value.map(({ name }) => name) : undefined;
  };
  return { gateway, kb, names };
}

describe('the tools of an MCP server', () => {
  it('[P-1] are listed by who asks, also while the server starts', async () => {
    const { kb, names } = await startKb({ tools: ['search', 'fetch'] });
    expect(kb.knownTools).toBeUndefined();
    expect(await names()).toEqual(['search', 'fetch']);
    expect(kb.knownTools).toMatchObject({ current: true });
  });

  it('[P-1] are known while the server is down, and told when they are others after the restart', async () => {
    const { gateway, kb, names } = await startKb({
      tools: ['search', 'fetch'],
      toolsAfterRestart: ['search', 'browse'],
      faults: [{ tool: 'search', start: 1, do: 'crash' }],
    });
    await names();
    const changed = gateway.wait('mcp.tools_changed');
    const crashed = gateway.wait('integration.crashed').then(() => kb.knownTools);
    await kb.call({ name: 'search' }, { effect: 'mutating' });
    expect(await crashed).toMatchObject({ current: false, tools: [{ name: 'search' }, { name: 'fetch' }] });
    expect(await changed).toMatchObject({ integration: 'kb', added: ['browse'], removed: ['fetch'], changed: [] });
    expect(await names()).toEqual(['search', 'browse']);
  });

  it('[P-1] are asked for again when the server says that they changed', async () => {
    const { gateway, kb, names } = await startKb({
      faults: [{ tool: 'swap', do: 'change_tools', tools: ['other'] }],
    });
    expect(await names()).toEqual(['echo', 'swap']);
    const changed = gateway.wait('mcp.tools_changed');
    await kb.call({ name: 'swap' });
    expect(await names()).toEqual(['other', 'swap']);
    expect(await changed).toMatchObject({ added: ['other'], removed: ['echo'] });
  });

  it('[I-1] [I-4] end as any call does when the server does not list them', async () => {
    const { kb } = await startKb({ faults: [{ on: 'tools/list', do: 'hang' }] });
    const outcome = await kb.tools({ overallMs: 300 });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', reason: 'overall_timeout' } });
  });

  it('[R-8] are not asked for any more by who gave up', async () => {
    const { kb } = await startKb({ faults: [{ on: 'tools/list', do: 'hang' }] });
    const outcome = await kb.tools({ signal: AbortSignal.abort('enough') });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    expect(() => kb.tools({ maxAttempts: 5 } as never)).toThrow('Unknown option `options.maxAttempts`');
  });
});

describe('what an MCP server says of its tools', () => {
  const crashing = (annotations: Record<string, boolean>): FaultyMcpServerOptions => ({
    tools: [{ name: 'write', annotations }],
    faults: [{ tool: 'write', start: 1, do: 'crash' }],
  });
  const retries = { readOnlyHint: true };
  const none = { destructiveHint: true };
  const lostToo = { retry: { repeatAfter: 'lost' as const } };

  it.each([
    ['a reading tool is repeated', retries, {}, true],
    ['a writing tool is not', none, {}, false],
    ['unless the options say otherwise, for the tool', none, { tools: { write: { effect: 'idempotent' } } }, true],
    ['or for all of them', none, { effect: 'idempotent' }, true],
    ['where no server is trusted nothing is known', retries, { trustAnnotations: false }, false],
    ['and what is not known is as the policy says', none, { trustAnnotations: false, policy: lostToo }, true],
    ['a careful option is not loosened by the server', retries, { effect: 'mutating' }, false],
    ['nor is that of a tool', retries, { tools: { write: { effect: 'mutating' } } }, false],
  ] as const)('[R-12] decides over repeating a lost call: %s', async (_, annotations, options, repeated) => {
    const { kb } = await startKb(crashing(annotations), options);
    expect((await kb.call({ name: 'write' })).ok).toBe(repeated);
  });

  it('[R-12] is trusted or not, nothing in between', () => {
    const declare = () => createGateway().mcpServer('kb', { command: 'x', trustAnnotations: 'no' as never });
    expect(declare).toThrow('Expected `kb.trustAnnotations` to be true or false, got "no"');
  });

  it('[R-12] also over calls of sessions, whose own word wins', async () => {
    const { gateway } = await startKb(crashing(none));
    const session = gateway.session('agent:main', {
      onMessage: ({ text = '' }, turn) =>
        turn.tool('kb', 'write', {}, text === 'careful' ? {} : { effect: 'readOnly' }),
    });
    const careful = await session.send({ kind: 'user', text: 'careful' });
    expect(careful.accepted && (await careful.processed)).toMatchObject({ value: { status: 'error', retries: 0 } });
  });
});
