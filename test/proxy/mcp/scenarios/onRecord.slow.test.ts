import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HandshakeFiles } from '../../../../proxy/wire/handshakeFiles.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type Scripted, type StartedProxy, startProxy, textIn } from '../startProxy.ts';

const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const version = 'io.modelcontextprotocol/protocolVersion';
const modern = (params: object = {}) => ({ _meta: { [version]: '2026-07-28' }, ...params });

/** A folder of handshakes, and proxies that share it. */
function shelf(now = () => Date.now(), holdsSecret = (text: string) => text.includes('s3cret')) {
  const directory = join(temporaryDirectory(), 'handshakes');
  const handshakes = new HandshakeFiles({ directory, identity: ['node'], holdsSecret, now });
  const records = () =>
    (readdirSync(directory, { withFileTypes: true }) ?? []).filter(({ name }) => name.endsWith('.json'));
  return { directory, handshakes, records, start: (options: Scripted = {}) => startProxy({ handshakes, ...options }) };
}

/** An earlier proxy whose client shook hands and asked for the tools. */
async function before(kept: ReturnType<typeof shelf>, env: Record<string, string> = {}): Promise<void> {
  const proxy = await kept.start({ env });
  await proxy.open();
  await expect.poll(() => kept.records().length).toBe(1);
  await proxy.stop();
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const last = (proxy: StartedProxy) => JSON.parse(proxy.lines.at(-1) ?? '{}') as Record<string, unknown>;
const requests = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { method: string }).method);

describe('a handshake on record', () => {
  it('[P-3] answers the handshake and the lists before the server has said anything, and no call', async () => {
    const kept = shelf();
    const earlier = await kept.start({ env: { PAGE: '2' } });
    await earlier.open();
    await earlier.ask('tools/list', { cursor: '2' });
    await turn();
    await turn();
    await earlier.stop();
    const proxy = await kept.start({ env: { PAGE: '2', STALL_STARTS: '1' } });
    proxy.clock.stop();
    const { result } = await proxy.ask('initialize', hello);
    expect(result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'scripted' } });
    proxy.notify('notifications/initialized');
    const first = await proxy.ask('tools/list');
    expect(first.result).toMatchObject({ nextCursor: '2', tools: [{ name: 'peek' }, { name: 'put' }] });
    expect((await proxy.ask('tools/list', { cursor: '2' })).result).toMatchObject({ tools: [{ name: 'act' }] });
    const { length } = proxy.lines;
    void proxy.call('peek', { do: 'echo', text: 'hi' });
    await proxy.told('process.started');
    await turn();
    expect(proxy.lines).toHaveLength(length);
  });

  it('[P-3] has the server greeted as the client greeted the record, and the call that waits go out', async () => {
    const kept = shelf();
    await before(kept);
    const proxy = await kept.start();
    await proxy.open();
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
    const lines = await proxy.received();
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ method: 'initialize', params: hello });
    expect(requests(lines).filter((method) => method === 'notifications/initialized')).toHaveLength(1);
    expect(proxy.lines.some((line) => line.includes('list_changed'))).toBe(false);
    expect(proxy.said).toEqual([]);
  });

  it('[P-3] is corrected by list_changed where the lists differ, and the next start is told the lists of now', async () => {
    const kept = shelf();
    await before(kept);
    const proxy = await kept.start({ env: { VARY: '1' } });
    await proxy.open();
    await proxy.seen(({ method }) => method === 'notifications/tools/list_changed');
    expect(JSON.stringify((await proxy.ask('tools/list')).result)).toContain('tool-1');
    await proxy.stop();
    const next = await kept.start({ env: { STALL_STARTS: '1' } });
    next.clock.stop();
    await next.ask('initialize', hello);
    expect(JSON.stringify((await next.ask('tools/list')).result)).toContain('tool-1');
  });

  it('[P-3] is of one client: another, or one of other capabilities, waits for the server', async () => {
    const kept = shelf();
    await before(kept);
    for (const other of [
      { ...hello, clientInfo: { name: 'other', version: '1' } },
      { ...hello, capabilities: { roots: {} } },
      { ...hello, protocolVersion: '2025-06-18' },
    ]) {
      const proxy = await kept.start();
      await proxy.ask('initialize', other);
      expect(requests(await proxy.received())[0]).toBe('initialize');
      expect(proxy.facts.some(({ type }) => type === 'mcp.server_replayed')).toBe(false);
    }
  });

  it('[P-3] of a version that the server speaks no longer is dropped: one request fails with the reason, the client stays', async () => {
    const kept = shelf();
    await before(kept);
    const proxy = await kept.start({ env: { SPEAKS: '2027-01-01' } });
    await proxy.ask('initialize', hello);
    proxy.notify('notifications/initialized');
    const first = await proxy.call('act', { do: 'start' });
    expect(textIn(first)).toContain('it speaks 2027-01-01, and no longer 2025-11-25');
    expect(first.result?.['isError']).toBe(true);
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('1');
    expect(kept.records()).toEqual([]);
  });

  it('[P-3] that the server refuses is dropped: one request fails with the reason, and the next start greets it as the client does', async () => {
    const kept = shelf();
    const asked = { ...hello, protocolVersion: '2026-01-01' };
    const earlier = await kept.start({ env: { SPEAKS: '2025-11-25' } });
    await earlier.ask('initialize', asked);
    await expect.poll(() => kept.records().length).toBe(1);
    await earlier.stop();
    const proxy = await kept.start({ env: { REFUSES_VERSION: '2025-11-25' } });
    await proxy.ask('initialize', asked);
    proxy.notify('notifications/initialized');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toContain('Unsupported protocol version');
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
    expect(kept.records()).toEqual([]);
  });

  it('[P-3] whose server does not start gives the first call the end of stderr, and the next call a start', async () => {
    const kept = shelf();
    await before(kept);
    const proxy = await kept.start({ env: { FAIL_STARTS: '4' } });
    await proxy.open();
    const answer = await proxy.call('act', { do: 'start' });
    expect(answer.result?.['isError']).toBe(true);
    expect(textIn(answer)).toMatch(/The server exited with code 1.*no luck at start \d/);
    expect(kept.records()).toEqual([]);
    await expect.poll(async () => textIn(await proxy.call('act', { do: 'start' }))).toBe('5');
  });

  it('[P-3] whose server dies once is no failure for the call that waits', async () => {
    const kept = shelf();
    await before(kept);
    const proxy = await kept.start({ env: { FAIL_STARTS: '1' } });
    await proxy.open();
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe('2');
    await expect.poll(() => kept.records().length).toBe(1);
  });

  it('[P-3] answers the question of the stateless era and its lists, and tells a change to who listens later', async () => {
    const kept = shelf();
    const earlier = await kept.start({ env: { STYLE: 'modern' } });
    const discovered = await earlier.ask('server/discover', modern());
    await earlier.ask('tools/list', modern());
    await expect.poll(() => kept.records().length).toBe(1);
    await earlier.stop();
    const proxy = await kept.start({ env: { STYLE: 'modern', VARY: '1' } });
    expect((await proxy.ask('server/discover', modern())).result).toEqual(discovered.result);
    expect(JSON.stringify((await proxy.ask('tools/list', modern())).result)).not.toContain('tool-1');
    await proxy.told('mcp.lists_changed');
    const params = modern({ notifications: { toolsListChanged: true } });
    proxy.raw(JSON.stringify({ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params }));
    const told = await proxy.seen(({ method }) => method === 'notifications/tools/list_changed');
    expect(told.params).toEqual({ _meta: { 'io.modelcontextprotocol/subscriptionId': 'l' } });
    expect(JSON.stringify((await proxy.ask('tools/list', modern())).result)).toContain('tool-1');
  });

  it('[P-3] of the stateless era is dropped where its version is taken no longer', async () => {
    const kept = shelf();
    const earlier = await kept.start({ env: { STYLE: 'modern' } });
    await earlier.ask('server/discover', modern());
    await expect.poll(() => kept.records().length).toBe(1);
    await earlier.stop();
    const proxy = await kept.start({ env: { STYLE: 'modern', SPEAKS: '2027-01-01' } });
    await proxy.ask('server/discover', modern());
    const call = () => proxy.ask('tools/call', modern({ name: 'act', arguments: { do: 'start' } }));
    expect(textIn(await call())).toContain('it speaks 2027-01-01, and no longer 2026-07-28');
    expect(textIn(await call())).toBe('1');
    expect(kept.records()).toEqual([]);
  });

  it('[P-3] answers a question for the era that its server does not know, and then the handshake', async () => {
    const kept = shelf();
    const earlier = await kept.start();
    await earlier.ask('server/discover', modern());
    await earlier.open();
    await expect.poll(() => kept.records().length).toBe(2);
    await earlier.stop();
    const proxy = await kept.start({ env: { STALL_STARTS: '1' } });
    proxy.clock.stop();
    expect((await proxy.ask('server/discover', modern())).error).toMatchObject({ code: -32_601 });
    expect((await proxy.ask('initialize', hello)).result).toMatchObject({ serverInfo: { name: 'scripted' } });
  });

  it('[P-3] is none for a proxy whose clients nobody tells apart, and none is kept of it', async () => {
    const kept = shelf();
    const proxy = await kept.start({ isShared: true });
    await proxy.open();
    await turn();
    expect(() => kept.records()).toThrow('ENOENT');
  });

  it('[P-3] holds no secret: what has one in it is not kept', async () => {
    const kept = shelf(undefined, (text) => text.includes('peek'));
    const proxy = await kept.start();
    await proxy.open();
    await turn();
    await turn();
    expect(kept.records()).toEqual([]);
    expect(last(proxy)).toHaveProperty('result');
  });

  it('[P-3] is a file of its user alone', async () => {
    const kept = shelf();
    await before(kept);
    const modes = ['key', ...kept.records().map(({ name }) => name)].map(
      (name) => statSync(join(kept.directory, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600]);
    expect(statSync(kept.directory).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(kept.directory, 'key'), 'utf8')).toMatch(/^[0-9a-f]{64}$/);
  });
});
