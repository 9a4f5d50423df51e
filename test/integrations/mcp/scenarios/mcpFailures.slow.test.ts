import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type McpIntegrationOptions } from '../../../../src/index.ts';
import type { FaultyMcpServerOptions } from '../../../../testing/faultyMcpServer.ts';
import type { McpFault, McpFaultRule } from '../../../../testing/mcpFaults.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

/** A gateway with a server that does wrong what the script says. */
async function startKb(script: FaultyMcpServerOptions, options: Partial<McpIntegrationOptions> = {}) {
  // A server may take its time to come up: a busy machine is no failure.
  const gateway = createGateway({ policies: { presets: { mcp: { restartWaitMs: 25_000 } } } });
  onTestFinished(() => gateway.stop());
  const startsFile = join(temporaryDirectory(), 'starts');
  const kb = gateway.mcpServer('kb', { ...faultyServer({ startsFile, ...script }), ...options });
  await gateway.start();
  /** What the server that runs now was sent, in order. */
  const received = async (): Promise<{ method: string; params: Record<string, unknown> }[]> => {
    const outcome = await kb.call({ name: 'received' });
    const [part] = outcome.ok ? outcome.value.content : [];
    return part?.type === 'text' ? JSON.parse(part.text) : [];
  };
  const starts = (): number => readFileSync(startsFile).length;
  return { gateway, kb, received, starts };
}

const inSearch = (fault: McpFault & Pick<McpFaultRule, 'start' | 'nth'>): FaultyMcpServerOptions => ({
  faults: [{ tool: 'search', ...fault }],
});

const search = { name: 'search' };

describe('a failed call of an MCP tool', () => {
  it.each([
    ['a lost connection', { do: 'crash', exitCode: 3 }, { kind: 'crash', reason: 'connection_lost', code: 3 }],
    ['a closed one', { do: 'crash', exitCode: 0 }, { kind: 'crash', reason: 'connection_closed' }],
    ['half an answer', { do: 'partial_line', then: 'crash' }, { kind: 'crash', reason: 'connection_lost' }],
    ['its own limit', { do: 'hang' }, { kind: 'timeout', reason: 'idle_timeout', outcome: 'unknown' }],
    ['an answer to nobody', { do: 'wrong_id' }, { kind: 'timeout', reason: 'idle_timeout' }],
    ['a refusal', { do: 'error', code: -32_602, message: 'no' }, { kind: 'permanent', code: -32_602 }],
    ['the word of the tool', { do: 'tool_error', texts: ['no'] }, { kind: 'permanent', reason: 'tool_error' }],
    ['a -32001 of the server', { do: 'error', code: -32_001, message: 'no' }, { kind: 'unknown', code: -32_001 }],
    ['an answer of no form', { do: 'malformed' }, { kind: 'protocol' }],
    ['too large an answer', { do: 'oversize', bytes: 5000 }, { kind: 'protocol', reason: 'message_too_large' }],
  ] as const)('[P-1] tells %s from all others', async (_, fault, failure) => {
    const { kb } = await startKb(inSearch(fault), { maxMessageBytes: 4096 });
    await kb.tools();
    const silent = 'reason' in failure && failure.reason === 'idle_timeout';
    const outcome = await kb.call(search, { maxAttempts: 1, idleMs: silent ? 200 : 20_000 });
    expect(outcome).toMatchObject({ ok: false, failure });
  });

  it.each([
    ['crashed', { do: 'crash', exitCode: 3 }, 'crash'],
    ['hung', { do: 'hang' }, 'timeout'],
    ['broke the protocol', { do: 'malformed' }, 'protocol'],
    ['refused', { do: 'error', code: -32_602, message: 'no' }, 'permanent'],
    ['said that it failed', { do: 'tool_error', texts: ['no'] }, 'permanent'],
  ] as const)('[O-1] that %s is on record with its tool and its input, once', async (_, fault, kind) => {
    const { gateway, kb } = await startKb(inSearch(fault));
    await kb.tools();
    const request = { ...search, arguments: { query: 'x', password: 'hunter2' } };
    const idleMs = kind === 'timeout' ? 200 : 20_000;
    const outcome = await kb.call(request, { maxAttempts: 1, idleMs });
    const error = outcome.ok ? '' : outcome.failure.message;
    const rows = async (category: string, type: string) =>
      (await gateway.store?.read({ category, limit: 100 }))
        ?.filter((row) => row.type === type)
        .map(({ metadata }) => metadata);
    expect(await rows('mcp', 'tool_error')).toEqual([
      expect.objectContaining({ tool_name: 'search', input: { query: 'x', password: '[redacted]' }, error, kind }),
    ]);
    expect(await rows('integration', 'failure')).toMatchObject([
      { integration: 'kb', type: 'mcp', tool: 'search', error },
    ]);
  });

  it.each(['Loading model...', 'Loading {"id": ', '{', '[1, 2'])(
    '[P-1] is none when the answer stands behind noise on its line: %s',
    async (text) => {
      const { kb } = await startKb(inSearch({ do: 'noise', text, newline: false }));
      expect(await kb.call(search, { maxAttempts: 1, idleMs: 20_000 })).toMatchObject({ ok: true });
    },
  );

  it('[P-1] [R-8] that ran into its limit is cancelled at the server', async () => {
    const { kb, received } = await startKb(inSearch({ do: 'hang' }));
    await kb.tools();
    await kb.call(search, { maxAttempts: 1, attemptMs: 200 });
    const messages = await received();
    const call = messages.findIndex(({ method }) => method === 'tools/call');
    const notice = messages[call + 1];
    expect(notice).toMatchObject({
      method: 'notifications/cancelled',
      params: { reason: expect.any(String) as string },
    });
  });

  it('[P-1] [I-1] drops and counts an answer that comes after its limit', async () => {
    const { kb, received } = await startKb(inSearch({ do: 'late' }));
    await kb.tools();
    expect(await kb.call(search, { maxAttempts: 1, attemptMs: 200 })).toMatchObject({ ok: false });
    await received();
    expect(kb.lateAnswers).toBe(1);
  });

  it('[P-1] drops and counts the second of two answers', async () => {
    const { kb, received } = await startKb(inSearch({ do: 'duplicate_answer' }));
    expect(await kb.call(search)).toMatchObject({ ok: true });
    await received();
    expect(kb.lateAnswers).toBe(1);
  });

  it('[P-1] keeps the count of late answers over a restart', async () => {
    const { gateway, kb, received } = await startKb(inSearch({ do: 'duplicate_answer' }));
    await kb.call(search);
    await received();
    const restarted = gateway.wait('integration.restarted');
    gateway.restart('kb');
    await restarted;
    expect(kb.lateAnswers).toBe(1);
  });
});

describe('progress of an MCP tool', () => {
  /** Progress twenty times a second. */
  const slow = (seconds: number) => inSearch({ do: 'slow', ms: seconds * 1000, progress: seconds * 20 });

  it.each([{ attemptMs: 500 }, { overallMs: 500 }])('[P-1] [G-7] does not keep %j off', async (limits) => {
    const { kb } = await startKb(slow(60));
    await kb.tools();
    const outcome = await kb.call(search, { maxAttempts: 1, ...limits });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timeout' } });
  });
});

describe('an MCP call whose answer was lost', () => {
  const crashesOnce = inSearch({ do: 'crash', start: 1 });

  it.each([
    ['readOnly', {}, true],
    ['idempotent', {}, true],
    ['mutating', {}, false],
    [undefined, {}, false],
    [undefined, { retry: { repeatAfter: 'lost' } }, true],
  ] as const)('[P-1] [R-12] of effect %s under %j is repeated: %s', async (effect, policy, repeated) => {
    const { kb, starts } = await startKb(crashesOnce, { policy });
    const outcome = await kb.call(search, { effect });
    expect(outcome.ok).toBe(repeated);
    await kb.tools();
    expect(starts()).toBe(2);
  });

  it('[R-12] is not asked for again when the call hung: it ends at its first limit', async () => {
    const { kb, received } = await startKb(inSearch({ do: 'hang' }));
    const outcome = await kb.call(search, { idleMs: 300 });
    expect(outcome).toMatchObject({ failure: { kind: 'timeout', outcome: 'unknown', attempts: 1 } });
    const asked = (await received()).filter(
      ({ params }) => (params as { name?: string } | undefined)?.name === 'search',
    );
    expect(asked).toHaveLength(1);
  });

  it('[P-1] [R-12] is sent when it was never written, whatever it may do', async () => {
    const { gateway, kb } = await startKb(inSearch({ do: 'crash', start: 1, nth: 1 }));
    const lost = gateway.wait('integration.crashed').then(() => kb.call(search, { effect: 'mutating' }));
    await kb.call(search, { effect: 'mutating' });
    expect(await lost).toMatchObject({ ok: true });
  });
});

describe('an MCP server that hangs in its restart', () => {
  it('[M-6] is given up after 5 s and started again, though its first start may take a minute', async () => {
    const clock = new SkippingClock();
    const gateway = createGateway({ clock });
    onTestFinished(() => gateway.stop());
    const startsFile = join(temporaryDirectory(), 'starts');
    const starts = (): number => readFileSync(startsFile).length;
    const faults: McpFaultRule[] = [
      { tool: 'search', start: 1, do: 'crash' },
      { on: 'initialize', start: 2, do: 'hang' },
    ];
    const kb = gateway.mcpServer('kb', { ...faultyServer({ startsFile, faults }), handshakeMs: 60_000 });
    // Its first start takes no time then, however busy the machine is.
    clock.stop();
    await gateway.start();
    const outcome = kb.call(search, { effect: 'readOnly' });
    const failed = gateway.wait('integration.restart_failed');
    await gateway.wait('integration.crashed');
    await vi.waitUntil(() => starts() === 2, { timeout: 20_000 });
    clock.skip(4999);
    expect(kb.state).toBe('crashed');
    clock.skip(1);
    expect((await failed).message).toContain('No answer to initialize within 5');
    expect(await outcome).toMatchObject({ ok: true });
    expect(starts()).toBe(3);
  });
});

describe('the circuit of an MCP server', () => {
  const brittle = { breaker: { resetTimeoutMs: 1, consecutiveFailures: 2 }, retry: { maxAttempts: 1 } };

  it('[P-1] [M-3] is tried by a ping before a call that may have effects', async () => {
    const { gateway, kb, received } = await startKb(inSearch({ do: 'malformed', nth: [1, 2] }), { policy: brittle });
    await kb.call(search);
    await kb.call(search);
    expect(kb.state).toBe('open');
    const closed = gateway.wait('breaker.closed');
    let outcome = await kb.call(search, { effect: 'mutating' });
    while (!outcome.ok && outcome.failure.kind === 'circuit_open')
      outcome = await kb.call(search, { effect: 'mutating' });
    expect(outcome).toMatchObject({ ok: true });
    await closed;
    const methods = (await received()).map(({ method }) => method);
    expect(methods.slice(methods.indexOf('ping'))).toEqual(['ping', 'tools/call', 'tools/call']);
  });

  it('[P-1] [M-7] is one for all tools', async () => {
    const { kb } = await startKb(
      { faults: [{ tool: 'search', do: 'malformed' }] },
      { policy: { ...brittle, breaker: { consecutiveFailures: 2 } } },
    );
    await kb.call(search);
    await kb.call(search);
    expect(await kb.call({ name: 'echo' })).toMatchObject({ ok: false, failure: { kind: 'circuit_open' } });
  });

  it('[P-1] [M-7] does not count what the tools themselves say', async () => {
    const { kb } = await startKb(inSearch({ do: 'tool_error' }), { policy: brittle });
    for (let calls = 0; calls < 5; calls++) await kb.call(search);
    expect(kb.breaker.state).toBe('closed');
  });
});

describe('an MCP server that hangs altogether', () => {
  it('[P-1] is killed when its hang outlives its call, though it ignores SIGTERM and the end of its stdin', async () => {
    const { gateway, kb, starts } = await startKb(
      { ...inSearch({ do: 'hang', scope: 'server', start: 1 }), ignoreSigterm: true, ignoreStdinEnd: true },
      { pingMs: 200 },
    );
    let pid: number | undefined;
    gateway.on('process.started', (started) => {
      pid = started.pid;
    });
    // Its stop would wait for the next server, which ignores as much.
    onTestFinished(() => void (pid === undefined || process.kill(pid, 'SIGKILL')));
    await kb.tools();
    const exited = gateway.wait('process.exited');
    const outcome = await kb.call(search, { maxAttempts: 1, idleMs: 200 });
    expect(outcome).toMatchObject({ ok: false, failure: { reason: 'idle_timeout' } });
    expect(await exited).toMatchObject({ reason: 'hang', signal: 'SIGKILL' });
    expect(await kb.call(search)).toMatchObject({ ok: true });
    expect(starts()).toBe(2);
  });

  it('[P-1] is killed when a caller gives up in silence, long before a limit of ours', async () => {
    const { gateway, kb, starts } = await startKb(inSearch({ do: 'hang', scope: 'server', start: 1 }), { pingMs: 200 });
    await kb.tools();
    const exited = gateway.wait('process.exited');
    expect(await kb.call(search, { signal: AbortSignal.timeout(1100) })).toMatchObject({
      failure: { kind: 'cancelled' },
    });
    expect(await exited).toMatchObject({ reason: 'hang' });
    expect(await kb.call(search)).toMatchObject({ ok: true });
    expect(starts()).toBe(2);
  });

  it('[P-1] is left alone when it answers the ping', async () => {
    const { kb, starts } = await startKb(inSearch({ do: 'hang', nth: 1 }), { pingMs: 5000 });
    await kb.tools();
    await kb.call(search, { idleMs: 100, maxAttempts: 1 });
    expect(await kb.call(search)).toMatchObject({ ok: true });
    expect(starts()).toBe(1);
  });
});

describe('a tool that is silent for longer than its idle limit', () => {
  it.each([
    ['end', false],
    ['wait', true],
  ] as const)('[P-1] under `%s` is answered: %s', async (whenAlive, ok) => {
    const slow = inSearch({ do: 'slow', ms: 1000 });
    const { kb } = await startKb(slow, { policy: { limits: { idleMs: 200 } }, whenAlive });
    await kb.tools();
    expect((await kb.call(search)).ok).toBe(ok);
  });

  it('[P-1] refuses another word for it', async () => {
    const never = 'never' as 'end';
    await expect(startKb({}, { whenAlive: never })).rejects.toThrow('`kb.whenAlive`');
  });
});

describe('a tool that hangs on a server that answers', () => {
  it('[M-15] is refused by its own circuit, in sessions as in calls, and the other tools go on', async () => {
    const { gateway, kb, starts } = await startKb(inSearch({ do: 'hang' }), {
      policy: { breaker: { consecutiveFailures: 2 }, limits: { idleMs: 200 } },
    });
    await kb.tools();
    const opened = gateway.wait('breaker.opened');
    const results: unknown[] = [];
    const session = gateway.session('main', {
      onMessage: async (_, turn) => {
        // Each asks for something else: an equal one would join the one that hangs.
        for (const [query, tool] of ['search', 'search', 'search', 'echo'].entries())
          results.push(await turn.tool('kb', tool, { query }));
      },
    });
    const sent = await session.send({ kind: 'user' });
    if (sent.accepted) await sent.processed;
    expect(results).toMatchObject([
      { status: 'error', kind: 'timeout' },
      { status: 'error', kind: 'timeout' },
      { status: 'error', kind: 'circuit_open', error: expect.stringContaining('the tool search of kb') as string },
      { status: 'ok' },
    ]);
    expect(await opened).toMatchObject({ integration: 'kb', tool: 'search' });
    expect(kb.breaker.of('search').state).toBe('open');
    expect(await kb.call(search)).toMatchObject({ ok: false, failure: { kind: 'circuit_open' } });
    expect(await kb.call({ name: 'echo' })).toMatchObject({ ok: true });
    expect(starts()).toBe(1);
  });
});
