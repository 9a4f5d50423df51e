import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpSupervisionOptions } from '../../../proxy/boundary/superviseMcpServer.ts';
import { openStore } from '../../../src/store/openStore.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { converseWith, textOf, type WireMessage } from '../../support/wire.ts';

const program = fileURLToPath(new URL('../../fixtures/supervisedServer.mjs', import.meta.url));

/** A server in a process of its own, its handshake over. */
async function startServer(sdk: string, options: McpSupervisionOptions = {}) {
  const wire = converseWith(process.execPath, [program, sdk], { ...process.env, SUPERVISION: JSON.stringify(options) });
  const clientInfo = { name: 'test', version: '1' };
  wire.send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  await wire.next();
  wire.send({ method: 'notifications/initialized' });
  const answers = async (count: number): Promise<Record<string, WireMessage>> => {
    const all: Record<string, WireMessage> = {};
    for (let got = 0; got < count; got++) {
      const message = await wire.next();
      all[String(message.id)] = message;
    }
    return all;
  };
  return { ...wire, answers };
}

const uncaught = (message: string): string =>
  `An error in the server that nobody caught; the outcome of the call is unknown: ${message}`;

describe.each(['v1', 'v2'])('the process of a supervised MCP server (SDK %s)', (sdk) => {
  it.each([
    ['throwLater', 'thrown in a timer'],
    ['rejectLater', 'rejected and forgotten'],
    ['throwHostile', 'hostile'],
  ])('[P-2] answers the call whose handler left an error behind (%s), and goes on', async (tool, message) => {
    const { call, answers, error } = await startServer(sdk);
    call(1, 'wait');
    expect(await error()).toBe('waiting');
    call(2, tool);
    const { 2: answer } = await answers(1);
    expect(answer?.result).toMatchObject({ isError: true });
    expect(textOf(answer ?? {})).toBe(`Error in ${tool}: ${uncaught(message)}`);
    call(3, 'stats');
    const stats = JSON.parse(textOf((await answers(1))[3] ?? {})) as object;
    expect(stats).toEqual({ inFlight: 2, failed: 1, late: 0, uncaught: 1 });
  });

  it('[P-2] answers all calls in flight when it cannot tell whose the error is', async () => {
    const { call, answers } = await startServer(sdk);
    call(1, 'wait');
    call(2, 'throwElsewhere');
    const { 1: first, 2: second } = await answers(2);
    expect(textOf(first ?? {})).toBe(`Error in wait: ${uncaught('thrown elsewhere')}`);
    expect(textOf(second ?? {})).toBe(`Error in throwElsewhere: ${uncaught('thrown elsewhere')}`);
  });

  it('[I-3] ends with its stdin, whatever timers and children it has, and is told', async () => {
    const { call, answers, child, exit, error } = await startServer(sdk);
    call(1, 'child');
    const pid = Number(textOf((await answers(1))[1] ?? {}));
    onTestFinished(() => {
      process.kill(pid, 'SIGKILL');
    });
    child.stdin.end();
    expect(await error()).toBe('closing');
    expect(await exit).toEqual([0, null]);
  });

  it('[I-3] ends with its stdin though a call hangs', async () => {
    const { call, child, exit, error } = await startServer(sdk);
    call(1, 'wait');
    expect(await error()).toBe('waiting');
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
  });

  it('[I-3] ends when its stdout is closed, without an error of its own', async () => {
    const { call, child, exit, error } = await startServer(sdk);
    child.stdout.destroy();
    call(1, 'echo');
    expect(await error()).toBe('closing');
    expect(await exit).toEqual([0, null]);
  });
});

describe('the process of a supervised MCP server', () => {
  it('[P-2] [I-4] records what nobody caught, with its stack', async () => {
    const store = join(temporaryDirectory(), 'kb.sqlite');
    const { call, answers, child, exit } = await startServer('v1', { store, name: 'kb' });
    call(1, 'throwLater');
    await answers(1);
    child.stdin.end();
    await exit;
    const opened = await openStore({ path: store, clock: systemClock, facts: new RecordedFacts() });
    onTestFinished(() => opened.close());
    const events = await opened.read({ limit: 10 });
    expect(events.map(({ category, type }) => `${category}/${type}`).sort()).toEqual([
      'host/uncaught',
      'mcp/tool_error',
    ]);
    for (const { metadata } of events) expect(String(metadata['stack'])).toContain('supervisedServer.mjs');
  });

  it('[P-2] goes through as many uncaught errors as it may, and ends with 1 at one more', async () => {
    const { call, answers, exit } = await startServer('v1', { mostUncaught: 2 });
    for (const id of [1, 2]) {
      call(id, 'throwLater');
      await answers(1);
    }
    call(3, 'echo');
    expect(textOf((await answers(1))[3] ?? {})).toBe('here');
    call(4, 'throwLater');
    expect(textOf((await answers(1))[4] ?? {})).toBe(`Error in throwLater: ${uncaught('thrown in a timer')}`);
    expect(await exit).toEqual([1, null]);
  });

  it('[I-4] records the calls it ends when it ends by itself', async () => {
    const store = join(temporaryDirectory(), 'kb.sqlite');
    const { call, answers, exit, error } = await startServer('v1', { store, mostUncaught: 0 });
    call(1, 'wait');
    expect(await error()).toBe('waiting');
    call(2, 'throwLater');
    const { 1: answer } = await answers(2);
    expect(textOf(answer ?? {})).toBe('Error in wait: The server is closing; the outcome of the call is unknown');
    expect(await exit).toEqual([1, null]);
    const opened = await openStore({ path: store, clock: systemClock, facts: new RecordedFacts() });
    onTestFinished(() => opened.close());
    const tools = (await opened.read({ category: 'mcp', limit: 10 })).map(({ metadata }) =>
      String(metadata['tool_name']),
    );
    expect(tools.sort()).toEqual(['throwLater', 'wait']);
  });

  it('[I-4] says on stderr that nothing can be stored', async () => {
    const store = join(temporaryDirectory(), 'kb.sqlite');
    writeFileSync(store, 'no database');
    const { error } = await startServer('v1', { store });
    expect(await error()).toMatch(/^The store is degraded, .* the file is no SQLite database/);
  });

  it('[P-2] [I-4] says on stderr what nobody caught', async () => {
    const { call, error } = await startServer('v1');
    call(1, 'throwLater');
    expect(await error()).toBe('An error that nobody caught; the server goes on: Error: thrown in a timer');
  });

  it.each(['v1', 'v2'])('[P-2] ends when its start fails, as it would have (SDK %s)', async (sdk) => {
    const { exit, error } = converseWith(process.execPath, [program, sdk], { ...process.env, FAIL_START: '1' });
    const lines: string[] = [];
    while (!lines.at(-1)?.includes('no database')) lines.push(await error());
    expect(await exit).toEqual([1, null]);
  });

  it('[I-1] answers what was asked right before the end of its stdin', async () => {
    const { call, child, answers, exit } = await startServer('v1', { closeMs: 20_000 });
    call(1, 'pause');
    child.stdin.end();
    expect(textOf((await answers(1))[1] ?? {})).toBe('rested');
    expect(await exit).toEqual([0, null]);
  });
});

describe('a supervised MCP server of both eras', () => {
  it.each([
    ['legacy', '2025-11-25'],
    ['auto', '2026-07-28'],
  ] as const)('[P-2] answers what its handlers leave behind, to a client that prefers %s', async (mode, version) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    onTestFinished(() => client.close());
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [program, 'both'], stderr: 'ignore' }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const answer = await client.callTool({ name: 'throwLater' });
    expect(answer).toMatchObject({
      isError: true,
      content: [{ text: `Error in throwLater: ${uncaught('thrown in a timer')}` }],
    });
    expect(await client.callTool({ name: 'echo' })).toMatchObject({ content: [{ text: 'here' }] });
  });
});
