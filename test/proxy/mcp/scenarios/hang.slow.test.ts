import { describe, expect, it } from 'vitest';
import { presets } from '../../../../src/policy/presets.ts';
import { type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const { idleMs } = presets.mcp.limits;

/** Time for the server to be asked for a sign of life: skipped before that, its limit is waited for. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The answer of a call whose server stops reading and writing. */
async function callThatFreezes(proxy: Awaited<ReturnType<typeof startProxy>>): Promise<string> {
  await proxy.open();
  const frozen = proxy.call('act', { do: 'freeze' });
  await proxy.seen(({ method }) => method === 'notifications/frozen');
  await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
  proxy.clock.skip(idleMs);
  await turns();
  proxy.clock.skip(5000);
  return textIn(await frozen);
}

/** Silent calls end though the server answers. */
const ending = { whenAlive: 'end', keepMs: 0 } as const;

describe('a call that hangs behind the proxy', () => {
  it('[P-1] [P-3] goes on to its limit as a whole while the server answers its pings', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.clock.stop();
    const hung = proxy.call('act', { do: 'hang' });
    await proxy.call('put', { do: 'start' });
    for (let seconds = 0; seconds < 300; seconds += 15) {
      expect(proxy.proxy.path.stats.attempts).toBe(1);
      proxy.clock.skip(15_000);
      await turns();
      await proxy.call('put', { do: 'start' });
    }
    expect(textIn(await hung)).toContain('No answer within 5m: no answer came yet');
    const pings = (await proxy.received()).filter((line) => line.includes('"ping"'));
    expect(pings.length).toBeGreaterThan(5);
    expect(proxy.starts()).toBe(1);
  });

  it('[P-1] [P-3] is answered though it took longer than the idle limit', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.clock.stop();
    const slow = proxy.call('act', { do: 'hold' });
    await proxy.call('put', { do: 'start' });
    proxy.clock.skip(45_000);
    await turns();
    await proxy.call('put', { do: 'release' });
    expect(textIn(await slow)).toBe('released it');
  });

  it('[P-1] [P-3] ends with its server when that does not answer a ping: killed and started again', async () => {
    const proxy = await startProxy();
    expect(await callThatFreezes(proxy)).toContain('The server hung and was killed');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
  });

  it('[P-3] ends after its idle limit where it may not wait; a server that answers a ping is left alone', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const hung = proxy.call('act', { do: 'hang' });
    await proxy.call('act', { do: 'pid' });
    proxy.clock.skip(29_900);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
    proxy.clock.skip(100);
    expect(textIn(await hung)).toContain('No answer or progress within 30s: outcome unknown');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
  });

  it('[P-3] has the server killed and started again when that does not answer a ping', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const hung = proxy.call('act', { do: 'freeze' });
    const other = proxy.call('put', { do: 'start' });
    await proxy.seen(({ method }) => method === 'notifications/frozen');
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(2);
    proxy.clock.skip(idleMs);
    await hung;
    await turns();
    proxy.clock.skip(5000);
    expect(textIn(await other)).toBe('2');
    expect((await proxy.told('integration.crashed')).message).toBe('The server hung and was killed');
  });

  it('[P-3] [O-1] is told with the server that took it along, and what became of it', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const frozen = proxy.call('act', { do: 'freeze' });
    const again = proxy.call('peek', { do: 'start' });
    await proxy.seen(({ method }) => method === 'notifications/frozen');
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(2);
    proxy.clock.skip(idleMs);
    await frozen;
    await turns();
    proxy.clock.skip(5000);
    expect(await proxy.told('mcp.calls_lost')).toMatchObject({
      lost: 1,
      calls: 'tools/call act',
      repeated: 1,
      repeatedCalls: 'tools/call peek',
      message: 'The server hung and was killed',
    });
    expect(textIn(await again)).toBe('2');
    expect(proxy.said.join()).toContain('lost 1 (tools/call act); 1 sent again (tools/call peek)');
  });

  it('[P-3] [O-1] is none of those a later crash has lost, when the server answered the ping', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const hung = proxy.call('act', { do: 'hang' });
    await proxy.call('act', { do: 'start' });
    proxy.clock.skip(idleMs);
    await hung;
    await proxy.call('act', { do: 'start' });
    void proxy.call('act', { do: 'freeze' });
    await proxy.seen(({ method }) => method === 'notifications/frozen');
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
    proxy.clock.skip(idleMs);
    await turns();
    proxy.clock.skip(5000);
    expect(await proxy.told('mcp.calls_lost')).toMatchObject({ lost: 1, repeated: 0, calls: 'tools/call act' });
  });

  it('[P-3] is kept up by progress that its client asked for, and that passes', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const progressing = { name: 'act', arguments: { do: 'progress' }, _meta: { progressToken: 'mine' } };
    proxy.clock.stop();
    const slow = proxy.ask('tools/call', progressing);
    proxy.clock.skip(20_000);
    const progress = await proxy.seen(({ method }) => method === 'notifications/progress');
    expect(progress.params).toEqual({ progressToken: 'mine', progress: 1 });
    proxy.clock.skip(20_000);
    expect(textIn(await proxy.call('act', { do: 'echo', text: 'still one answer' }))).toBe('still one answer');
    await turns();
    proxy.clock.skip(10_000);
    expect((await slow).result?.['isError']).toBe(true);
  });

  it('[P-3] is kept up by progress its client did not ask for, which does not pass', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const answer = await proxy.call('act', { do: 'progress', then: 'answer' });
    expect(JSON.parse(textIn(answer))).toEqual({ progressToken: expect.stringMatching(/^unwedge-/) as string });
    expect(proxy.lines.some((line) => line.includes('notifications/progress'))).toBe(false);
  });

  it('[P-1] [P-3] is kept up by what the server logs while it works on that call alone', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    proxy.clock.stop();
    const slow = proxy.call('act', { do: 'hang' });
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
    proxy.clock.skip(20_000);
    proxy.notify('notifications/log');
    await proxy.seen(({ method }) => method === 'notifications/message');
    proxy.clock.skip(idleMs - 1);
    await turns();
    expect(proxy.proxy.path.stats.attempts).toBe(1);
    proxy.clock.skip(1);
    expect(textIn(await slow)).toContain('No answer or progress within 30s');
  });

  it('[P-3] is cancelled at the server, and its late answer goes to nobody', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const hung = proxy.call('act', { do: 'hold', key: 'until cancelled' }, 'h');
    await proxy.call('act', { do: 'start' });
    proxy.clock.skip(idleMs);
    expect(textIn(await hung)).toContain('No answer or progress within 30s');
    expect(await proxy.told('call.late')).toMatchObject({ label: 'tools/call act', ok: true });
    expect((await proxy.received()).some((line) => line.includes('notifications/cancelled'))).toBe(true);
    expect(proxy.lines.filter((line) => line.includes('"id":"h"'))).toHaveLength(1);
  });

  it('[P-3] that its client cancels ends there: the server is told, and nobody gets its late answer', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'hold', key: 'until cancelled' }, 9);
    await proxy.call('act', { do: 'start' });
    proxy.notify('notifications/cancelled', { requestId: 9, reason: 'not wanted' });
    await proxy.told('call.late');
    const cancels = (await proxy.received()).filter((line) => line.includes('notifications/cancelled'));
    expect(cancels).toHaveLength(1);
    expect(proxy.lines.some((line) => line.includes('"id":9'))).toBe(false);
    expect(proxy.proxy.path.stats.attempts).toBe(0);
  });

  it('[P-3] and is sent again to the same server has another id there, and its own for the client', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const hung = proxy.call('peek', { do: 'hold', key: 'until cancelled' }, 'mine');
    await proxy.call('act', { do: 'start' });
    proxy.clock.skip(idleMs);
    await proxy.told('call.late');
    proxy.clock.skip(1000);
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
    const lines = (await proxy.received()).filter((line) => line.includes('"peek"'));
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual([
      'mine',
      expect.stringMatching(/^unwedge-/) as string,
    ]);
    await proxy.call('act', { do: 'release', key: 'until cancelled' });
    expect(textIn(await hung)).toBe('released until cancelled');
  });

  it('[P-3] [R-12] that its client cancels once it is sent again ends there too: the new server is told', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const isAnswered = (): boolean => proxy.lines.some((line) => line.includes('"id":"gone"'));
    void proxy.call('peek', { do: 'freeze' }, 'gone');
    await proxy.seen(({ method }) => method === 'notifications/frozen');
    proxy.clock.skip(idleMs);
    await turns();
    proxy.clock.skip(5000);
    await proxy.told('integration.restarted');
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
    proxy.notify('notifications/cancelled', { requestId: 'gone', reason: 'timed out' });
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(0);
    expect(proxy.proxy.path.stats.waiting).toBe(0);
    expect(isAnswered()).toBe(false);
  });

  it('[P-3] that its client cancels while it waits for a server ends there too', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.breaks(true);
    await proxy.call('act', { do: 'kill' });
    void proxy.call('act', { do: 'start' }, 'waits');
    await expect.poll(() => proxy.proxy.path.stats.waiting).toBe(1);
    proxy.notify('notifications/cancelled', { requestId: 'waits' });
    await expect.poll(() => proxy.proxy.path.stats.waiting).toBe(0);
    expect(proxy.lines.some((line) => line.includes('waits'))).toBe(false);
  });

  it('[P-3] that is sent again has progress that does not go back', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const progressing = (value: number) => ({
      name: 'peek',
      arguments: { do: 'progress', value },
      _meta: { progressToken: 'mine' },
    });
    void proxy.ask('tools/call', progressing(5), 'p');
    await proxy.seen(({ method }) => method === 'notifications/progress');
    await proxy.call('act', { do: 'kill' });
    await proxy.told('integration.restarted');
    for (const progress of [5, 6]) {
      const params = { progressToken: 'mine', progress };
      await proxy.call('act', { do: 'notify', method: 'notifications/progress', params });
    }
    const seen = proxy.lines.filter((line) => line.includes('notifications/progress'));
    expect(seen.map((line) => /"progress":(\d)/.exec(line)?.[1])).toEqual(['5', '6']);
  });

  it('[P-3] has progress that goes nowhere once it has ended, unless it was for a task', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const meta = (progressToken: string) => ({ _meta: { progressToken } });
    await proxy.ask('tools/call', { name: 'act', ...meta('call') });
    await proxy.ask('tools/call', { name: 'act', task: {}, ...meta('task') });
    for (const progressToken of ['call', 'task', 'nobody']) {
      const params = { progressToken, progress: 1 };
      await proxy.call('act', { do: 'notify', method: 'notifications/progress', params });
    }
    const seen = proxy.lines.filter((line) => line.includes('notifications/progress'));
    expect(seen.map((line) => /"progressToken":"(\w+)"/.exec(line)?.[1])).toEqual(['task']);
  });

  it('[P-3] [G-14] is not silent while the server waits for a person', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const asked = proxy.call('act', { do: 'ask', method: 'elicitation/create', askId: 'q' });
    await proxy.seen(({ id, method }) => id === 'q' && method === 'elicitation/create');
    for (let second = 0; second < 200; second += 4) proxy.clock.skip(4000);
    proxy.raw('{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}');
    expect(textIn(await asked)).toContain('accept');
  });

  it('[P-3] is not excused for ever by a question that no person answers', async () => {
    const proxy = await startProxy(ending);
    await proxy.open();
    const asked = proxy.call('act', { do: 'ask', method: 'roots/list', askId: 'q' });
    await proxy.seen(({ method }) => method === 'roots/list');
    for (let second = 0; second < 100; second += 4) proxy.clock.skip(4000);
    expect(textIn(await asked)).toContain('No answer or progress within 30s');
  });

  it('[P-1] [P-3] ends with a server that hangs though its tool was given a longer limit of its own', async () => {
    const proxy = await startProxy({ toolMs: { act: 60_000 } });
    expect(await callThatFreezes(proxy)).toContain('The server hung and was killed');
  });

  it('[P-3] has the limit of its tool where it was given one', async () => {
    const proxy = await startProxy({ toolMs: { act: 2000 } });
    await proxy.open();
    proxy.clock.stop();
    const hung = proxy.call('act', { do: 'hang' });
    await proxy.call('put', { do: 'start' });
    proxy.clock.skip(2000);
    expect(textIn(await hung)).toContain('within 2s');
  });

  it('[M-15] [P-3] five times in a row has its tool refused at once, with the time of the next try, and no other', async () => {
    const proxy = await startProxy({ ...ending, env: { STDERR: 'warming up with s3cret' } });
    await proxy.open();
    const hung = Array.from({ length: 5 }, () => proxy.call('act', { do: 'hang' }));
    await proxy.call('put', { do: 'start' });
    proxy.clock.stop();
    proxy.clock.skip(idleMs);
    await Promise.all(hung);
    const refused = textIn(await proxy.call('act', { do: 'start' }));
    expect(refused).toContain('The circuit of the tool act of kb is open: No answer or progress within 30s; next try');
    expect(refused).toContain('it was not started; try again in 1m');
    expect(textIn(await proxy.call('put', { do: 'start' }))).toBe('1');
    expect(await proxy.told('breaker.opened')).toMatchObject({ integration: 'kb', tool: 'act' });
    proxy.clock.skip(60_000);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
  });
});

describe('a client that gives up before the limits of the proxy', () => {
  /** Freezes the server, and gives the call up after 6 s. */
  async function giveUpOnFrozen(proxy: StartedProxy): Promise<void> {
    await proxy.open();
    proxy.clock.stop();
    void proxy.call('act', { do: 'freeze' }, 'frozen');
    await proxy.seen(({ method }) => method === 'notifications/frozen');
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
    proxy.clock.skip(6000);
    proxy.notify('notifications/cancelled', { requestId: 'frozen', reason: 'timed out' });
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(0);
    await turns();
  }

  it('[P-1] [P-3] has a server that is silent asked for a sign of life, and killed without one: one crash, with its calls', async () => {
    const proxy = await startProxy();
    await giveUpOnFrozen(proxy);
    const next = proxy.call('put', { do: 'start' });
    await expect.poll(() => proxy.proxy.path.stats.waiting).toBe(1);
    proxy.clock.skip(4999);
    await turns();
    expect(proxy.facts.filter(({ type }) => type === 'integration.crashed')).toEqual([]);
    proxy.clock.skip(1);
    expect((await proxy.told('integration.crashed')).message).toBe('The server hung and was killed');
    expect(await proxy.told('mcp.calls_lost')).toMatchObject({ lost: 1, calls: 'tools/call act', repeated: 0 });
    expect(textIn(await next)).toBe('2');
    expect(proxy.facts.filter(({ type }) => type === 'integration.crashed')).toHaveLength(1);
    expect(proxy.lines.some((line) => line.includes('"id":"frozen"'))).toBe(false);
  });

  it('[P-1] [P-3] leaves a server alone that answers: one ping for a flood of calls given up', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.clock.stop();
    for (let each = 0; each < 20; each++) void proxy.call('act', { do: 'hang' }, `h${each}`);
    await proxy.call('put', { do: 'start' });
    proxy.clock.skip(6000);
    for (let each = 0; each < 20; each++) proxy.notify('notifications/cancelled', { requestId: `h${each}` });
    expect(textIn(await proxy.call('put', { do: 'start' }))).toBe('1');
    expect((await proxy.received()).filter((line) => line.includes('"ping"'))).toHaveLength(1);
    proxy.clock.skip(5000);
    await turns();
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
  });

  it('[P-1] [P-3] has no server killed that still starts', async () => {
    const proxy = await startProxy({ env: { STALL_STARTS: '1' } });
    proxy.clock.stop();
    void proxy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} }, 'slow');
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
    proxy.clock.skip(6000);
    proxy.notify('notifications/cancelled', { requestId: 'slow' });
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(0);
    await turns();
    proxy.clock.skip(6000);
    await turns();
    expect(proxy.facts.map(({ type }) => type)).not.toContain('integration.crashed');
  });
});

describe('five malformed answers of a server', () => {
  const malformed = { do: 'answer', raw: '{"jsonrpc":"2.0","id":$id,"result":null}' };

  it('[P-3] open its circuit: the next call is refused at once, with the time of the next try', async () => {
    const proxy = await startProxy({ env: { STDERR: 'warming up with s3cret' } });
    await proxy.open();
    proxy.clock.stop();
    for (let each = 0; each < 5; each++) await proxy.call('act', malformed);
    const refused = textIn(await proxy.call('put', { do: 'start' }));
    expect(refused).toMatch(/The circuit of kb is open: .+; next try in 60 s: it was not started; try again in 1m/);
    expect(refused).toContain('stderr: warming up with [hidden]');
  });

  it('[P-3] open its circuit, which a ping of its own closes, and the call that waited goes on', async () => {
    const proxy = await startProxy();
    await proxy.open();
    for (let each = 0; each < 5; each++) await proxy.call('act', malformed);
    await proxy.call('act', { do: 'start' });
    proxy.clock.skip(60_000);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
  });
});
