import { describe, expect, it } from 'vitest';
import { connectCodex } from '../../../agents/codex/index.ts';
import type { Fact } from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { join } from 'node:path';
import { openReader } from '../../../reader/openReader.ts';
import { codexFixture, quickTurn, says, startThread } from './startCodex.ts';

const secret = 'sk-planted0123456789abcdef';
const ofCodex = (facts: readonly Fact[]) => facts.filter(({ type }) => type.startsWith('codex.app_server.'));

describe('the telemetry of an app-server', () => {
  it('[F-27] tells connection, requests, notifications and approvals', async () => {
    const { gateway, thread, facts } = await startThread(
      { 'turn/start': [[['usual'], says.asks(0)]], answer: [[says.completed]] },
      { approve: () => 'accept' },
    );
    await thread.send('hi').outcome;
    await gateway.stop();
    const types = new Set(ofCodex(facts).map(({ type }) => type.replace('codex.app_server.', '')));
    expect([...types].sort()).toEqual([
      'approval.completed',
      'approval.requested',
      'connection.start',
      'connection.stop',
      'notification.received',
      'notification.unknown',
      'request.start',
      'request.stop',
    ]);
    expect(facts).toContainEqual(
      expect.objectContaining({ type: 'codex.app_server.connection.stop', reason: 'normal', connection: 1 }),
    );
    expect(facts).toContainEqual(
      expect.objectContaining({
        type: 'codex.app_server.approval.completed',
        decision: 'accept',
        kind: 'command',
        request: 0,
      }),
    );
    expect(facts).toContainEqual(
      expect.objectContaining({ type: 'codex.app_server.request.stop', method: 'turn/start', ok: true }),
    );
  });

  it('[F-27] tells the end of a request that was not answered once, with how long it took and its limit', async () => {
    const { codex, clock, heardOf, of } = await startThread({ 'config/read': [[]] });
    const outcome = codex.request('config/read');
    await heardOf('config/read');
    await clock.advance(10_000);
    await outcome;
    // Beside it stands the sign of life that was asked for meanwhile.
    const timeouts = of('codex.app_server.request.timeout').filter(({ method }) => method === 'config/read');
    expect(timeouts).toMatchObject([
      { method: 'config/read', elapsedMs: 10_000, limitMs: 10_000, error: 'No answer to config/read within 10s' },
    ]);
    expect(of('codex.app_server.request.stop').filter(({ method }) => method === 'config/read')).toEqual([]);
  });

  it('[F-27] [O-8] tells neither what was said nor secrets', async () => {
    const { thread, facts, logged, wait } = await startThread(
      { 'turn/start': [[['usual'], ['stderr', `key ${secret}\n`], says.message(`I know ${secret}`), says.completed]] },
      { env: { MY_KEY: secret } },
    );
    const written = wait('process.stray_output');
    await thread.send(`my secret is ${secret}`, { params: { baseInstructions: secret, threadSource: secret } }).outcome;
    expect(await written).toMatchObject({ stream: 'stderr', line: 'key [MY_KEY]' });
    const start = facts.find((fact) => fact.type === 'codex.app_server.request.start' && fact.method === 'turn/start');
    expect(start).toMatchObject({
      params: { threadId: 'thread-1', input: '[left out]', baseInstructions: '[left out]' },
    });
    expect(JSON.stringify([facts, logged])).not.toContain(secret);
  });

  it('[F-27] [O-1] is kept in the store where it matters', async () => {
    const store = join(temporaryDirectory(), 'codex.sqlite');
    const script = { 'turn/start': [[['usual'], ['kill', 'SIGKILL']]] };
    const env = { FAKE_CODEX: JSON.stringify(script) };
    const connected = await connectCodex({ command: process.execPath, args: [codexFixture], env, store });
    if (!connected.ok) throw new Error(connected.failure.message);
    const thread = await connected.value.startThread();
    if (thread.ok) await thread.value.send('hi').outcome;
    await connected.value.close();
    const reader = await openReader(store);
    const events = (await reader.events({ limit: 100 })).map(({ category, type }) => `${category}/${type}`);
    reader.close();
    expect(events).toEqual(
      expect.arrayContaining([
        'codex/connection_start',
        'codex/connection_error',
        'codex/connection_stop',
        'integration/failure',
      ]),
    );
    expect(events).not.toContain('codex/request_start');
  });
});

describe('the wire tap', () => {
  it('[O-8] hears every line, without the words and the secrets in it', async () => {
    const lines: string[] = [];
    const { thread } = await startThread(
      { 'turn/start': [quickTurn] },
      {
        env: { MY_KEY: secret },
        tap({ direction, line }) {
          lines.push(`${direction} ${line}`);
          throw new Error('a tap that throws');
        },
      },
    );
    expect(await thread.send(`tell ${secret}`, { params: { model: secret } }).outcome).toMatchObject({ ok: true });
    expect(lines[0]).toContain('sent {"id":1,"method":"initialize"');
    expect(lines.some((line) => line.startsWith('received') && line.includes('turn/completed'))).toBe(true);
    expect(lines.join('\n')).not.toContain(secret);
    expect(lines.join('\n')).not.toContain('"done"');
  });
});

describe("a connection of one's own", () => {
  it('is a value when it fails, and leaves nothing behind', async () => {
    const clock = new SimulatedClock();
    expect(await connectCodex({ command: '/no/such/codex', clock })).toMatchObject({
      ok: false,
      failure: { reason: 'codex_not_found' },
    });
    expect(clock.pending).toBe(0);
  });

  it('ends with its runtime', async () => {
    const connected = await connectCodex({ command: process.execPath, args: [codexFixture] });
    if (!connected.ok) throw new Error(connected.failure.message);
    expect(connected.value.state).toBe('ready');
    await connected.value.close();
    expect(connected.value.state).toBe('closed');
    expect(await connected.value.startThread()).toMatchObject({ failure: { kind: 'unavailable' } });
  });

  it('refuses options that are none', async () => {
    await expect(connectCodex({ nmae: 'x' } as never)).rejects.toThrow('Unknown option `codex.nmae`');
    await expect(connectCodex(5 as never)).rejects.toThrow('Expected `options` to be an object');
  });
});
