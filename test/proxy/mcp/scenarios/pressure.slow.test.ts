import { describe, expect, it } from 'vitest';
import { gone } from '../../../actors/mcp/mcpHarness.ts';
import { presets } from '../../../../src/policy/presets.ts';
import { startProxy, textIn } from '../startProxy.ts';

const { idleMs } = presets.mcp.limits;

describe('the proxy between a fast side and a slow one', () => {
  it('[P-3] leaves the output of the server where it is while the client does not read', async () => {
    const [proxy, other] = await Promise.all([startProxy(), startProxy()]);
    await proxy.open();
    proxy.output.pause();
    const calls = Array.from({ length: 20 }, () => proxy.call('act', { do: 'large', bytes: 1 << 20 }));
    await expect.poll(() => proxy.output.writableNeedDrain).toBe(true);
    // Time enough for the rest to come, if it were let.
    await other.open();
    for (let call = 0; call < 50; call++) await other.call('act', { do: 'large', bytes: 1 << 20 });
    // What one piece of the pipe completes is all that is taken beyond what the client has room for.
    expect(proxy.output.writableLength).toBeLessThan(3 << 20);
    proxy.output.resume();
    for (const answer of await Promise.all(calls)) expect(textIn(answer)).toHaveLength(1 << 20);
  });

  it('[P-3] does not take the server for silent while the client does not read', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.output.pause();
    const calls = Array.from({ length: 20 }, () => proxy.call('act', { do: 'large', bytes: 1 << 20 }));
    await expect.poll(() => proxy.output.writableNeedDrain).toBe(true);
    for (let second = 0; second < 120; second += 4) proxy.clock.skip(4000);
    proxy.output.resume();
    for (const answer of await Promise.all(calls)) expect(textIn(answer)).toHaveLength(1 << 20);
    expect(proxy.starts()).toBe(1);
  });

  it('[P-3] does not kill the server for what the client leaves unread beyond every limit', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.output.pause();
    const calls = Array.from({ length: 20 }, () => proxy.call('act', { do: 'large', bytes: 1 << 20 }));
    await expect.poll(() => proxy.output.writableNeedDrain).toBe(true);
    for (let second = 0; second < 304; second += 4) proxy.clock.skip(4000);
    await proxy.told('call.failed');
    proxy.clock.skip(5000);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    proxy.output.resume();
    await Promise.all(calls);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
  });

  it('[P-3] reads no more of the client while the server does not read, and goes on with the next one', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'freeze' });
    await proxy.seen(({ method }) => method === 'notifications/frozen');
    const text = 'x'.repeat(100_000);
    const calls = Array.from({ length: 100 }, () => proxy.call('act', { do: 'echo', text }));
    await expect.poll(() => proxy.input.isPaused()).toBe(true);
    expect(proxy.proxy.path.stats.attempts).toBeLessThan(50);
    proxy.clock.skip(idleMs);
    await proxy.told('call.failed');
    proxy.clock.skip(5000);
    await proxy.told('integration.restarted');
    await Promise.all(calls);
    expect(proxy.input.isPaused()).toBe(false);
  });

  it('[P-3] [I-3] sees the end of the client behind a server that does not read, which is killed though no call waits for it', async () => {
    const proxy = await startProxy();
    await proxy.open();
    process.kill(Number(textIn(await proxy.call('act', { do: 'pid' }))), 'SIGSTOP');
    for (let nth = 0; nth < 30; nth++) proxy.notify('notifications/long', { text: 'x'.repeat(100_000) });
    proxy.input.end();
    await expect.poll(() => proxy.input.isPaused()).toBe(true);
    let ended = false;
    void proxy.proxy.ended.then(() => (ended = true));
    await expect
      .poll(() => {
        proxy.clock.skip(5000);
        return ended && proxy.starts() === 2;
      })
      .toBe(true);
  });

  it('[P-3] leaves alone a server that reads again before its limit', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const pid = Number(textIn(await proxy.call('act', { do: 'pid' })));
    process.kill(pid, 'SIGSTOP');
    proxy.clock.stop();
    for (let nth = 0; nth < 30; nth++) proxy.notify('notifications/long', { text: 'x'.repeat(100_000) });
    await expect.poll(() => proxy.input.isPaused()).toBe(true);
    process.kill(pid, 'SIGCONT');
    await expect.poll(() => proxy.input.isPaused()).toBe(false);
    proxy.clock.skip(40_000);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
  });

  it('[P-3] keeps at most 64 MB of requests for a server that is away', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '0' } });
    await proxy.open();
    void proxy.call('act', { do: 'crash' });
    await proxy.told('integration.crashed');
    const text = 'x'.repeat(1 << 20);
    const calls = Array.from({ length: 70 }, () => proxy.call('peek', { do: 'start', text }));
    expect(proxy.input.isPaused()).toBe(true);
    await Promise.all(calls);
    await expect.poll(() => proxy.input.isPaused()).toBe(false);
  });

  it('[P-3] gives the client the last words of a server that exited before they were read', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const pid = Number(textIn(await proxy.call('act', { do: 'pid' })));
    proxy.output.pause();
    const first = proxy.call('act', { do: 'large', bytes: 40_000 });
    await expect.poll(() => proxy.output.writableNeedDrain).toBe(true);
    const last = proxy.call('act', { do: 'last', bytes: 30_000 });
    await gone(pid);
    proxy.clock.skip(1000);
    proxy.output.resume();
    expect([textIn(await first).length, textIn(await last).length]).toEqual([40_000, 30_000]);
  });
});
