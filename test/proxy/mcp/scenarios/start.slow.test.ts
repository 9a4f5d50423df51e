import { describe, expect, it } from 'vitest';
import { startProxy, textIn } from '../startProxy.ts';

const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

describe('the start of a proxy', () => {
  it('[P-3] is the first message of the client', async () => {
    const proxy = await startProxy();
    expect(proxy.runtime.root.has('mcp:kb')).toBe(false);
    await proxy.ask('initialize', hello);
    expect(proxy.runtime.root.state('mcp:kb')).toBe('running');
  });

  it('[P-3] passes what was written in one piece in its order', async () => {
    const proxy = await startProxy();
    const lines = ['initialize', 'notifications/initialized', 'tools/list'].map((method, index) =>
      JSON.stringify({ jsonrpc: '2.0', ...(index !== 1 && { id: index }), method, params: {} }),
    );
    proxy.raw(lines.join('\n'));
    await proxy.seen(({ id }) => id === 2);
    expect((await proxy.received()).slice(0, 3)).toEqual(lines);
  });

  it('[P-3] tries a handshake that its server does not survive again, a few times', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '2' } });
    expect((await proxy.ask('initialize', hello)).result).toMatchObject({ serverInfo: { name: 'scripted' } });
    expect(proxy.starts()).toBe(3);
  });

  it('[P-3] that fails is answered with the last words of the server, and the server is left alone', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '4' } });
    const answer = await proxy.ask('initialize', hello);
    expect(answer.error?.code).toBe(-32_603);
    expect(answer.error?.message).toContain(
      'The server exited with code 1; stderr: no luck at start 4: it failed; it may be tried again',
    );
    expect(answer.error?.message).toContain('stderr: no luck at start 4');
    await proxy.told('child.stopped');
    expect(proxy.starts()).toBe(4);
  });

  it('[P-3] that failed is tried again by the next handshake', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '4' } });
    await proxy.ask('initialize', hello);
    await proxy.told('child.stopped');
    expect((await proxy.ask('initialize', hello)).result).toBeDefined();
  });

  it('[P-3] that failed is tried again by the next request, for which the proxy shakes hands itself', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '4' } });
    await proxy.ask('initialize', hello);
    await proxy.told('child.stopped');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('5');
    const methods = (await proxy.received()).map((line) => (JSON.parse(line) as { method: string }).method);
    expect(methods.slice(0, 4)).toEqual(['initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
  });

  it('[P-3] that the proxy makes itself says once that the client is ready, which had said so meanwhile', async () => {
    const proxy = await startProxy();
    const lines = [
      { id: 0, method: 'initialize', params: hello },
      { method: 'notifications/initialized' },
      { method: 'notifications/cancelled', params: { requestId: 0 } },
    ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
    proxy.raw(lines.join('\n'));
    await proxy.call('act', { do: 'start' });
    const methods = (await proxy.received()).map((line) => (JSON.parse(line) as { method: string }).method);
    expect(methods.slice(0, 4)).toEqual(['initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
    expect(methods.filter((method) => method === 'notifications/initialized')).toHaveLength(1);
  });

  it('[P-3] [L-4] of a command that is not there is answered at once', async () => {
    const proxy = await startProxy({ command: '/nowhere/server' });
    const answer = await proxy.ask('initialize', hello);
    expect(answer.error?.message).toContain('kb cannot be started');
    expect(answer.error?.message).toContain('/nowhere/server');
    expect(answer.error?.message).toContain('once that is mended, the next request starts it');
    expect(answer.error?.message).not.toContain('may be tried again');
    expect(answer.error?.data).toMatchObject({ 'unwedge/failure': { kind: 'unavailable', retryable: false } });
  });

  it('[P-1] [P-3] has 3 min, and keeps a client that wants to hear of progress until then', async () => {
    const proxy = await startProxy({ env: { STALL_STARTS: '1' } });
    proxy.clock.stop();
    const asked = proxy.ask('initialize', { ...hello, _meta: { progressToken: 'mine' } });
    await proxy.told('process.started');
    for (let seconds = 0; seconds < 60; seconds += 5) proxy.clock.skip(5000);
    const beats = proxy.lines.map((line) => JSON.parse(line) as { method?: string; params?: { progress: number } });
    const progress = beats.flatMap(({ method, params }) => (method === 'notifications/progress' ? [params] : []));
    expect(progress).toHaveLength(12);
    expect(progress[0]).toMatchObject({ progressToken: 'mine', message: 'kb has been starting for 5s' });
    const values = progress.map((each) => each?.progress ?? 0);
    expect(values).toEqual(values.toSorted((one, other) => one - other));
    expect(proxy.said).toEqual(expect.arrayContaining(['kb has been starting for 15s', 'kb has been starting for 1m']));
    proxy.clock.skip(119_999);
    expect(proxy.proxy.path.stats.attempts).toBe(1);
    proxy.clock.skip(1);
    expect((await asked).error?.message).toContain('No answer to initialize within 3m');
  });

  it('[P-3] that takes longer than its limit ends the handshake with an error', async () => {
    const proxy = await startProxy({ args: ['-e', 'setInterval(() => {}, 1000)'], handshakeMs: 10_000 });
    const asked = proxy.ask('initialize', hello);
    await proxy.told('process.started');
    proxy.clock.skip(10_000);
    expect((await asked).error).toMatchObject({
      message: expect.stringMatching(/^No answer to initialize within 10s: /) as unknown,
      data: { 'unwedge/failure': { kind: 'timeout', reason: 'init_timeout' } },
    });
    expect((await proxy.told('call.failed')).failure).toMatchObject({ kind: 'timeout', reason: 'init_timeout' });
  });

  it('[P-3] that takes longer than its limit is not called off: the protocol forbids that of a handshake', async () => {
    const proxy = await startProxy({ handshakeMs: 10_000, env: { STALL_STARTS: '1' } });
    const asked = proxy.ask('initialize', hello);
    await proxy.call('act', { do: 'start' });
    proxy.clock.skip(10_000);
    expect((await asked).error?.message).toContain('within 10s');
    expect((await proxy.received()).some((line) => line.includes('notifications/cancelled'))).toBe(false);
  });

  it('[P-3] gives the server the whole environment, or what is allowed of it', async () => {
    const command = [
      '-e',
      'console.error(`saw ${process.env.MY_ONE} ${process.env.MY_TWO} ${process.env.PATH !== undefined}`)',
    ];
    const env = { MY_ONE: 'one', MY_TWO: 'two' };
    const whole = await startProxy({ args: command, env });
    await whole.ask('initialize', hello);
    expect(whole.errors()).toContain('saw one two true');
    const some = await startProxy({ args: command, env, envAllow: ['MY_TWO'] });
    await some.ask('initialize', hello);
    expect(some.errors()).toContain('saw undefined two true');
  });

  it.each([
    ['idleMs', 0],
    ['overallMs', Number.NaN],
    ['handshakeMs', -1],
    ['retry', 'sometimes'],
    ['name', ''],
  ])('[P-3] refuses an option that is not as documented: %s', async (option, value) => {
    await expect(startProxy({ [option]: value })).rejects.toThrow(option);
  });
});

describe('a client that shakes hands again', () => {
  it('[P-3] is passed to the server, and begins a new record', async () => {
    const proxy = await startProxy();
    await proxy.open();
    await proxy.ask('logging/setLevel', { level: 'debug' });
    await proxy.ask('initialize', { ...hello, protocolVersion: '2025-06-18' });
    proxy.notify('notifications/initialized');
    await proxy.call('act', { do: 'kill' });
    const lines = await proxy.received();
    expect(lines[0]).toContain('2025-06-18');
    expect(lines.some((line) => line.includes('setLevel'))).toBe(false);
  });

  it('[P-3] while its server is away hears what it heard the first time', async () => {
    const proxy = await startProxy({ env: { FAIL_STARTS: '0' } });
    const first = await proxy.ask('initialize', hello);
    proxy.notify('notifications/initialized');
    proxy.breaks(true);
    void proxy.call('act', { do: 'kill' });
    await proxy.told('integration.crashed');
    void proxy.ask('initialize', hello, 'again');
    await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.parse(proxy.lines.at(-1) ?? '')).toMatchObject({ id: 'again', result: first.result });
  });

  it('[P-3] [O-9] says at the first end of a server that cannot start what it wrote, and what helps', async () => {
    const proxy = await startProxy();
    proxy.breaks(true);
    void proxy.ask('initialize', hello);
    const { message } = await proxy.told('integration.crashed');
    expect(message).toMatch(/^The server exited with code 1; stderr: \S/);
    expect(proxy.said).toHaveLength(1);
    expect(proxy.said[0]).toMatch(
      /^kb does not come up: The server exited with code 1; stderr: \S.*; mend its command, arguments or environment: /,
    );
    expect(proxy.facts.map(({ type }) => type)).not.toContain('breaker.opened');
  });

  it('[P-3] is answered a ping by its server while that is there', async () => {
    const proxy = await startProxy();
    await proxy.open();
    expect((await proxy.ask('ping', {}, 'p')).result).toEqual({});
    expect(await proxy.received()).toContain('{"jsonrpc":"2.0","id":"p","method":"ping","params":{}}');
  });

  it('[P-3] is answered a ping while its server is away', async () => {
    const proxy = await startProxy();
    await proxy.open();
    proxy.breaks(true);
    void proxy.call('act', { do: 'kill' });
    await proxy.told('integration.crashed');
    void proxy.ask('ping', {}, 'p');
    await new Promise((resolve) => setImmediate(resolve));
    expect(proxy.lines.at(-1)).toBe('{"jsonrpc":"2.0","id":"p","result":{}}');
  });

  it('[P-3] is answered a ping that its server does not answer, within 5 s', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'freeze' });
    await proxy.seen(({ method }) => method === 'notifications/frozen');
    const ping = proxy.ask('ping');
    await new Promise((resolve) => setImmediate(resolve));
    proxy.clock.skip(5000);
    expect((await ping).result).toEqual({});
  });
});
