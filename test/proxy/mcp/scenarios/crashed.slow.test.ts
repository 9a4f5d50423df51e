import { describe, expect, it, vi } from 'vitest';
import { checkAlertRules } from '../../../../src/policy/alerts.ts';
import type { IntegrationSettings } from '../../../../src/policy/policies.ts';
import type { FactType } from '../../../../src/policy/facts/facts.ts';
import { restartNamed } from '../../../../src/runtime/operatorOrders.ts';
import { proxyWhy } from '../../../../proxy/mcp/proxyWhy.ts';
import { whyText } from '../../../../cli/whyText.ts';
import { AlertWatch } from '../../../../src/alerts/alertWatch.ts';
import { type StartedProxy, startProxy, textIn } from '../startProxy.ts';

describe('a server that crashes behind the proxy', () => {
  it('[P-3] [R-12] answers a tool call in flight with a result that says its outcome is unknown', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const answer = await proxy.call('act', { do: 'crash' }, 7);
    expect(answer.result?.['isError']).toBe(true);
    expect(textIn(answer)).toBe(
      'The server exited with code 3: outcome unknown; it may have taken effect; it is declared mutating and was not repeated: find out whether it happened before you call it again. Last lines of the server on stderr: fatal: out of luck',
    );
    expect(proxy.starts()).toBe(1);
    const found = answer.result?.['_meta'] as Record<string, unknown>;
    expect(found['unwedge/failure']).toMatchObject({ outcome: 'unknown', retryable: false });
  });

  it('[P-3] quotes stderr of the process that failed, and of none before it', async () => {
    const proxy = await startProxy();
    await proxy.open();
    expect(textIn(await proxy.call('act', { do: 'crash' }))).toContain('on stderr: fatal: out of luck');
    await proxy.told('integration.restarted', 1);
    expect(textIn(await proxy.call('act', { do: 'kill' }))).not.toContain('stderr');
    await proxy.told('integration.restarted', 2);
    for (let each = 0; each < 5; each++) {
      const raw = '{"jsonrpc":"2.0","id":$id,"result":null}';
      expect(textIn(await proxy.call('act', { do: 'answer', raw }))).not.toContain('stderr');
    }
  });

  it('[P-3] [L-5] says in `why` which call of its client the crash ended, and how', async () => {
    const proxy = await startProxy();
    await proxy.open();
    expect(whyText(proxyWhy(proxy.proxy))).not.toContain('failed');
    await proxy.call('act', { do: 'crash' });
    proxy.clock.skip(3000);
    expect(whyText(proxyWhy(proxy.proxy))).toMatch(
      /\n {2}\S+ act \(\S+-\d+\) failed [3-9][\d.]*s ago, after \S+: crash: The server exited with code 3\n/,
    );
  });

  it('[P-3] is back for the next call, and the client was told nothing of it', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.call('act', { do: 'crash' });
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
    expect(proxy.lines).toHaveLength(4);
  });

  it.each([
    ['peek', '2'],
    ['act', 'it is declared mutating and was not repeated'],
    ['plain', 'it may have taken effect, check before repeating'],
  ])(
    '[P-3] [R-12] is asked for its tools once before a call of a client that has not listed them: %s',
    async (tool, said) => {
      const proxy = await startProxy();
      await proxy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
      proxy.notify('notifications/initialized');
      expect(textIn(await proxy.call(tool, { do: 'crash', onStart: 1 }))).toContain(said);
      await proxy.told('integration.restarted');
      const methods = (await proxy.received()).map((line) => (JSON.parse(line) as { method?: string }).method);
      expect(methods.filter((method) => method === 'tools/list')).toHaveLength(1);
      expect(methods.indexOf('tools/list')).toBeLessThan(methods.indexOf('tools/call'));
      expect(proxy.lines.some((line) => line.includes('"inputSchema"'))).toBe(false);
    },
  );

  it.each([
    ['peek', '2'],
    ['put', '2'],
  ])(
    '[P-6] [R-12] is asked again, by what the next process tells, where it had not told of its tools by then: %s',
    async (tool, said) => {
      const proxy = await startProxy({ env: { LISTS_FROM: '2' } });
      await proxy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
      proxy.notify('notifications/initialized');
      expect(textIn(await proxy.call(tool, { do: 'crash', onStart: 1 }))).toBe(said);
      expect((await proxy.received()).filter((line) => line.includes('"do":"crash"'))).toHaveLength(1);
      expect(await proxy.told('mcp.calls_lost')).toMatchObject({ lost: 0, repeated: 1 });
    },
  );

  it.each([
    ['act', 'it is declared mutating and was not repeated'],
    ['plain', 'it may have taken effect, check before repeating'],
  ])(
    '[P-6] [R-12] is not asked again what the next process tells nothing harmless of, where it had not told by then: %s',
    async (tool, said) => {
      const proxy = await startProxy({ env: { LISTS_FROM: '2' } });
      await proxy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
      proxy.notify('notifications/initialized');
      const answer = await proxy.call(tool, { do: 'crash', onStart: 1 });
      expect(textIn(answer)).toContain(said);
      const meta = answer.result?.['_meta'] as Record<string, unknown> | undefined;
      expect(meta?.['unwedge/failure']).toMatchObject({ attempts: 1, outcome: 'unknown', retryable: false });
      expect((await proxy.received()).join('')).not.toContain('"do":"crash"');
      expect(await proxy.told('mcp.calls_lost')).toMatchObject({ lost: 1, repeated: 0 });
    },
  );

  it('[P-6] [R-12] is told as lost where the next process does not tell of its tools either', async () => {
    const proxy = await startProxy({ env: { LISTS_FROM: '3' } });
    await proxy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    proxy.notify('notifications/initialized');
    const answer = proxy.call('peek', { do: 'crash', onStart: 1 });
    await proxy.told('integration.restarted');
    await expect.poll(async () => (await proxy.received()).join('')).toContain('tools/list');
    proxy.clock.skip(5000);
    expect(textIn(await answer)).toContain('outcome unknown');
    expect((await proxy.received()).join('')).not.toContain('"do":"crash"');
  });

  it('[P-3] is not asked for its tools where the client has listed them, or the configuration says what they do', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.call('plain', { do: 'echo' });
    expect((await proxy.received()).join('').match(/tools\/list/g)).toHaveLength(1);
    const told = await startProxy({
      policies: { integrations: { kb: { tools: { plain: { effect: 'readOnly' } } } } },
    });
    await told.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    expect((await told.received()).join('')).not.toContain('tools/list');
  });

  it.each(['peek', 'put'])('[P-3] [R-12] is asked again what can safely be repeated: %s', async (tool) => {
    const proxy = await startProxy();
    await proxy.open();
    expect(textIn(await proxy.call(tool, { do: 'crash', onStart: 1 }))).toBe('2');
    expect(await proxy.told('mcp.calls_lost')).toMatchObject({ lost: 0, repeated: 1 });
  });

  it('[P-3] is asked again anything with retry `always`', async () => {
    const proxy = await startProxy({ retry: 'always' });
    await proxy.open();
    expect(textIn(await proxy.call('act', { do: 'crash', onStart: 1 }))).toBe('2');
  });

  it.each<[string, IntegrationSettings]>([
    ['of the tool', { tools: { act: { effect: 'mutating' } } }],
    ['of the server', { effect: 'mutating' }],
  ])(
    '[P-3] [R-12] is not asked again with retry `always` what is declared mutating, by the effect %s',
    async (_, kb) => {
      const proxy = await startProxy({ retry: 'always', policies: { integrations: { kb } } });
      await proxy.open();
      const answer = await proxy.call('act', { do: 'crash' });
      expect(textIn(answer)).toContain('it is declared mutating and was not repeated');
      const found = answer.result?.['_meta'] as Record<string, unknown>;
      expect(found['unwedge/failure']).toMatchObject({ attempts: 1, outcome: 'unknown', retryable: false });
      expect(await proxy.told('mcp.calls_lost')).toMatchObject({ lost: 1, repeated: 0 });
    },
  );

  it.each(['act', 'plain'])(
    '[P-3] [R-12] says of no call that repeating it does no harm, with retry `always`: %s',
    async (tool) => {
      const proxy = await startProxy({
        retry: 'always',
        policies: { integrations: { kb: { retry: { maxAttempts: 2 } } } },
      });
      await proxy.open();
      const answer = await proxy.call(tool, { do: 'crash' });
      expect(textIn(answer)).toContain(
        'it may have taken effect; its policy allows to repeat it: it may be tried again',
      );
      const found = answer.result?.['_meta'] as Record<string, unknown>;
      expect(found['unwedge/failure']).toMatchObject({ attempts: 2, outcome: 'unknown', retryable: true });
    },
  );

  it('[P-3] is asked nothing again with retry `never`', async () => {
    const proxy = await startProxy({ retry: 'never' });
    await proxy.open();
    const answer = await proxy.call('peek', { do: 'crash', onStart: 1 });
    expect(answer.result?.['isError']).toBe(true);
  });

  it('[P-3] answers a request that is no tool call with an error', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const lost = proxy.ask('custom/hang', {}, 0);
    void proxy.call('act', { do: 'kill' });
    expect((await lost).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('was ended by SIGKILL: outcome unknown') as string,
      data: { 'unwedge/failure': { kind: 'crash', outcome: 'unknown', attempts: 1 } },
    });
  });

  it('[P-3] tells what was lost, once for the crash', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const hung = [proxy.call('act', { do: 'hang' }), proxy.call('put', { do: 'hang', onStart: 1 })];
    await proxy.call('act', { do: 'kill' });
    await hung[0];
    expect(await proxy.told('mcp.calls_lost')).toMatchObject({
      lost: 2,
      repeated: 1,
      calls: 'tools/call act',
      repeatedCalls: 'tools/call put',
      message: 'The server was ended by SIGKILL',
    });
    await proxy.told('integration.restarted');
    expect(proxy.said[0]).toMatch(
      /^kb was restarted after [\d.]+m?s: The server was ended by SIGKILL; lost 2 \(tools\/call act\); 1 sent again \(tools\/call put\)$/,
    );
  });

  it('[P-3] that exits with 0 between calls is started again by the next one, and no crash is told', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.call('act', { do: 'crash', code: 0 });
    await proxy.told('child.stopped');
    const crashes = proxy.facts.filter(({ type }) => type === 'child.crashed');
    expect(crashes).toEqual([]);
    expect(proxy.starts()).toBe(1);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
  });

  it('[P-3] [I-1] has every request answered once, however often it is killed while they come', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const calls: Promise<unknown>[] = [];
    for (let wave = 0; wave < 10; wave++) {
      for (let each = 0; each < 20; each++) calls.push(proxy.call(each % 2 === 0 ? 'peek' : 'act', { do: 'start' }));
      calls.push(proxy.call('act', { do: 'kill' }));
      for (let each = 0; each < 20; each++) calls.push(proxy.ask('tools/list'));
      await calls[wave * 41 + 10];
    }
    await Promise.all(calls);
    const ids = proxy.lines.flatMap((line) => /"id":"(t\d+)"/.exec(line)?.[1] ?? []);
    expect(ids).toHaveLength(412);
    expect(new Set(ids).size).toBe(412);
  });
});

describe('a server that does not come back', () => {
  it('[P-3] [M-6] has a call wait for it 5 s, then answered with its last words and the time of the next try', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.breaks(true);
    await proxy.call('act', { do: 'crash' });
    for (let restart = 1; restart < 5; restart++) {
      await proxy.told('child.restarting', restart);
      proxy.clock.skip(2000);
    }
    await proxy.told('child.restarting', 5);
    proxy.clock.stop();
    const call = proxy.call('act', { do: 'start' });
    proxy.clock.skip(4900);
    await proxy.told('child.restarting', 6);
    expect(proxy.lines).toHaveLength(3);
    proxy.clock.skip(100);
    const answer = textIn(await call);
    expect(answer).toContain('kb is down and has not come back yet: The server exited with code 1: it was not started');
    expect(answer).toMatch(/try again in \S+\. Last lines of the server on stderr: no luck at start \d/);
  });

  it('[P-1] is tried on the next turn, then after 250 ms doubling to 5 s', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.breaks(true);
    await proxy.call('act', { do: 'crash' });
    const delays: number[] = [];
    for (let restart = 1; restart <= 8; restart++) {
      delays.push((await proxy.told('child.restarting', restart)).delayMs);
      proxy.clock.skip(5000);
    }
    expect(delays).toEqual([0, 250, 500, 1000, 2000, 4000, 5000, 5000]);
    proxy.breaks(false);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe(String(proxy.starts()));
    // One answer is enough for the next series to begin anew.
    await proxy.call('act', { do: 'crash' });
    expect((await proxy.told('child.restarting', delays.length + 1)).delayMs).toBe(0);
  });

  it('[M-6] that hangs in its restart is given up after 5 s, though its first start may take a minute', async () => {
    const proxy = await startProxy({ env: { STALL_STARTS: '2' } });
    // Its first start takes no time then, however busy the machine is.
    proxy.clock.stop();
    await proxy.open();
    await proxy.call('act', { do: 'kill' });
    // Its starts are counted by the server itself, first of all.
    await vi.waitUntil(() => proxy.starts() === 2, { timeout: 20_000 });
    proxy.clock.skip(4999);
    expect(proxy.facts.filter(({ type }) => type === 'integration.restart_failed')).toEqual([]);
    proxy.clock.skip(1);
    expect(await proxy.told('integration.restart_failed')).toMatchObject({
      message: expect.stringContaining('No answer to initialize within 5') as string,
    });
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('3');
  });

  it('[P-3] is tried at once by a request when its last start was 5 s ago', async () => {
    const proxy = await startProxy({ env: { STALL_STARTS: '9' } });
    proxy.clock.stop();
    await proxy.open();
    proxy.breaks(true);
    await proxy.call('act', { do: 'crash' });
    for (let restart = 1; restart <= 8; restart++) {
      await proxy.told('child.restarting', restart);
      if (restart === 8) proxy.breaks(false);
      proxy.clock.skip(5000);
    }
    await vi.waitUntil(() => proxy.starts() === 9, { timeout: 20_000 });
    proxy.clock.skip(5000);
    expect((await proxy.told('child.restarting', 9)).delayMs).toBe(5000);
    // The clock stands still: nothing but the request brings it back.
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('10');
  });

  it('[R-4] has 200 reading calls that it took with it repeated, each once', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const calls = Array.from({ length: 200 }, () => proxy.call('peek', { do: 'hang', onStart: 1, then: 'start' }));
    await proxy.call('plain', { do: 'kill' });
    expect((await Promise.all(calls)).map(textIn)).toEqual(calls.map(() => '2'));
    expect(proxy.facts.filter(({ type }) => type === 'call.retried')).toHaveLength(200);
  });

  it('[P-3] is not tried more often than every 5 s by requests', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.breaks(true);
    await proxy.call('act', { do: 'crash' });
    for (let restart = 1; restart <= 12; restart++) {
      await proxy.told('child.restarting', restart);
      // The last start takes no time then, however busy the machine is.
      if (restart === 12) proxy.clock.stop();
      proxy.clock.skip(60_000);
    }
    await proxy.told('child.restarting', 13);
    const started = (): number => proxy.facts.filter(({ type }) => type === 'process.started').length;
    const before = started();
    void proxy.call('act', { do: 'start' });
    proxy.clock.skip(4000);
    void proxy.call('act', { do: 'start' });
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(started()).toBe(before);
    proxy.clock.skip(1000);
    await proxy.told('child.restarting', 14);
    expect(started()).toBe(before + 1);
  });

  it('[P-3] because it does not answer the handshake in time is killed and tried again', async () => {
    const proxy = await startProxy({ handshakeMs: 2000, env: { STALL_STARTS: '2' } });
    await proxy.open();
    await proxy.call('act', { do: 'kill' });
    await proxy.told('process.started', 2);
    proxy.clock.skip(2000);
    proxy.clock.skip(500);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('3');
  });

  it('[P-3] because it refuses the handshake is tried again', async () => {
    const proxy = await startProxy({ env: { REFUSE_STARTS: '2' } });
    await proxy.open();
    await proxy.call('act', { do: 'kill' });
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('3');
    expect(proxy.said.join('\n')).toContain('kb does not come up: The server refused initialize: not today');
  });
});

describe('a server that is restarted by hand', () => {
  it('[P-3] [L-5] ends what is in flight, and the next call finds a new one', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const hung = proxy.call('act', { do: 'hang' });
    await proxy.call('act', { do: 'start' });
    proxy.runtime.root.restartChild('mcp:kb');
    expect(textIn(await hung)).toContain('kb was restarted by an operator: outcome unknown');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
    expect(proxy.said[0]).toMatch(
      /^kb was restarted after [\d.]+m?s: an operator asked for it; lost 1 \(tools\/call act\)$/,
    );
  });

  it('[P-3] [O-3] [M-6] has not failed: no crash and no failure that counts is told, its calls end as cancelled', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'hang' });
    await proxy.call('act', { do: 'start' });
    restartNamed(
      'kb',
      {},
      {
        root: proxy.runtime.root,
        paths: new Map([['kb', { path: proxy.proxy.path }]]),
        sessions: new Map(),
        facts: proxy.runtime.bus,
      },
    );
    await proxy.told('integration.restarted');
    const told = proxy.facts.map(({ type }) => type);
    expect(told).not.toContain('integration.crashed');
    expect(told).not.toContain('child.crashed');
    expect(await proxy.told('operator.restarted')).toMatchObject({ integration: 'kb', what: 'server', calls: 1 });
    expect(await proxy.told('call.failed')).toMatchObject({
      failure: { kind: 'cancelled', reason: 'restarted', outcome: 'unknown', retryable: false },
    });
  });

  it('[P-3] [R-12] is asked again what can safely be repeated', async () => {
    const proxy = await startProxy();
    await proxy.open();
    const held = proxy.call('peek', { do: 'crash', onStart: 0, then: 'start' });
    expect(textIn(await held)).toBe('1');
    const hung = proxy.call('peek', { do: 'hold' });
    await proxy.call('act', { do: 'start' });
    proxy.runtime.root.restartChild('mcp:kb');
    await proxy.told('mcp.calls_lost');
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(1);
    await proxy.call('act', { do: 'release' });
    expect(textIn(await hung)).toBe('released it');
  });

  it('[P-3] [M-6] is told without what it wrote at its start', async () => {
    const proxy = await startProxy({ env: { STDERR: 'warming up' } });
    await proxy.open();
    await proxy.call('act', { do: 'start' });
    await proxy.call('act', { do: 'crash' });
    expect(await proxy.told('child.crashed')).toMatchObject({
      error: 'The server exited with code 3; stderr: fatal: out of luck',
    });
  });

  it('[P-3] [M-6] that does not come up again has crashed', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.breaks(true);
    proxy.runtime.root.restartChild('mcp:kb');
    expect((await proxy.told('integration.crashed')).message).toContain('exited with code 1');
  });
});

describe('a server that crashes in a loop behind the proxy', () => {
  const watch = (proxy: StartedProxy) => {
    const ruleOf = checkAlertRules('alerts', { integrations: { kb: { crashes: 3 } } });
    const origin = () => ({ host: 'web-1', pid: 1, gateway: 'gateway.mjs' });
    new AlertWatch({ clock: proxy.clock, bus: proxy.runtime.bus, ruleOf, origin, newId: () => 'id' }).start(
      undefined,
      [],
      [],
    );
  };

  it('[O-3] [P-3] raises one alert though every call survives, and an all-clear when it is quiet', async () => {
    const proxy = await startProxy();
    await proxy.open();
    watch(proxy);
    for (let crash = 1; crash <= 4; crash++) {
      const again = proxy.call('peek', { do: 'kill', onStart: crash });
      expect(textIn(await again)).toBe(String(crash + 1));
    }
    const told = (type: FactType) => proxy.facts.filter((fact) => fact.type === type);
    expect(told('call.failed')).toEqual([]);
    expect(told('alert.raised')).toMatchObject([{ because: 'crashes', integration: 'kb', failures: 0, crashes: 3 }]);
    proxy.clock.skip(10 * 60_000);
    expect(await proxy.told('alert.cleared')).toMatchObject({ by: 'quiet', failures: 0, crashes: 4 });
  });

  it('[O-3] [P-3] [M-6] raises one alert when it does not come back any more', async () => {
    const proxy = await startProxy();
    await proxy.open();
    watch(proxy);
    proxy.breaks(true);
    await proxy.call('act', { do: 'kill' });
    await proxy.told('integration.restart_failed', 1);
    expect(proxy.facts.some(({ type }) => type === 'alert.raised')).toBe(false);
    await proxy.told('integration.restart_failed', 2);
    expect(await proxy.told('alert.raised')).toMatchObject({ because: 'crashes', crashes: 3 });
    await proxy.told('integration.restart_failed', 3);
    expect(proxy.facts.filter(({ type }) => type === 'alert.raised')).toHaveLength(1);
  });
});
