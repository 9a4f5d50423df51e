import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { HandshakeFiles } from '../../../../proxy/wire/handshakeFiles.ts';
import { type Message, type Scripted, startProxy, textIn } from '../startProxy.ts';

const maxResult = 2000;
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');
const large = lines(2000);
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
const read = 'unwedge_read_result';

let state = '';
beforeEach(() => {
  state = temporaryDirectory();
  vi.stubEnv('XDG_STATE_HOME', state);
  vi.stubEnv('UNWEDGE_DB', '');
  return () => vi.unstubAllEnvs();
});
const folder = () => join(state, 'unwedge', 'results');
const kept = (): readonly string[] => {
  try {
    return readdirSync(folder());
  } catch {
    return [];
  }
};

async function startLarge(options: Scripted = {}) {
  const proxy = await startProxy({ maxResult, ...options });
  await proxy.open();
  return {
    ...proxy,
    page: (handle: string, from?: number, bytes?: number) => proxy.call(read, { handle, from, bytes }),
    names: async () =>
      ((await proxy.ask('tools/list')).result?.['tools'] as { name: string }[] | undefined)?.map(({ name }) => name),
  };
}

const textsOf = (message: Message) => (message.result?.content ?? []).map(({ text }) => text);
const metaOf = (message: Message) => (message.result?.['_meta'] ?? {}) as Record<string, Record<string, unknown>>;
const handleOf = (message: Message): string => String(metaOf(message)['unwedge/result']?.['handle']);

describe('a result of a tool that is larger than is told', () => {
  it('[P-12] is told as head and tail, and read on in pages to its end', async () => {
    const proxy = await startLarge();
    const answer = await proxy.call('peek', { text: large });
    const [note = '', head = '', middle = '', tail = ''] = textsOf(answer);
    expect(note).toContain(`Of ${large.length} bytes of text`);
    expect(large.startsWith(head) && large.endsWith(tail)).toBe(true);
    expect(middle).toContain('are left out here');
    let [whole, next] = [head, /"from":(\d+)/.exec(note)?.[1]];
    for (let pages = 0; next !== undefined && pages < 100; pages++) {
      const page = await proxy.page(handleOf(answer), Number(next));
      const [text = '', about = ''] = textsOf(page);
      expect(text.length).toBeLessThanOrEqual(maxResult);
      whole += text;
      next = /Read on from (\d+)/.exec(about)?.[1];
    }
    expect(whole).toBe(large);
  });

  it('[P-12] is kept in a file that only its user reads, until its client leaves', async () => {
    const proxy = await startLarge();
    await proxy.call('peek', { text: large });
    const [file = ''] = kept();
    expect(readFileSync(join(folder(), file), 'utf8')).toBe(large);
    expect(statSync(join(folder(), file)).mode & 0o777).toBe(0o600);
    await proxy.stop();
    expect(kept()).toEqual([]);
  });

  it('[P-12] passes as it came where the option is off, and up to the limit where it is on', async () => {
    const off = await startProxy();
    await off.open();
    expect(textIn(await off.call('peek', { text: large }))).toBe(large);
    const on = await startLarge();
    const fits = 'x'.repeat(maxResult);
    expect((await on.call('peek', { text: fits })).result).toEqual({ content: [{ type: 'text', text: fits }] });
    expect(kept()).toEqual([]);
  });

  it('[P-12] may be of an error, or of the stateless era, and stays what it is', async () => {
    const proxy = await startLarge();
    const raw = (result: object) => ({
      do: 'answer',
      raw: JSON.stringify({ jsonrpc: '2.0', id: '$id', result }).replace('"$id"', '$id'),
    });
    const content = [{ type: 'text', text: large }];
    const failed = await proxy.call('peek', raw({ content, isError: true }));
    expect(failed.result).toMatchObject({ isError: true });
    expect(textIn(failed)).toContain('too large to be told whole');
    expect((await proxy.told('mcp.tool_failed')).error).toMatch(/^line 0/);
    const own = await proxy.ask('tools/call', {
      name: 'peek',
      arguments: raw({ content, resultType: 'complete' }),
      ...modern,
    });
    expect(own.result).toMatchObject({ resultType: 'complete' });
    const page = await proxy.ask('tools/call', { name: read, arguments: { handle: handleOf(own) }, ...modern });
    expect(page.result).toMatchObject({ resultType: 'complete' });
    expect(textsOf(page)[0]?.startsWith('line 0\n')).toBe(true);
  });

  it('[P-12] may come in a batch', async () => {
    const proxy = await startLarge();
    const request = (id: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'peek', arguments: { text: large } },
    });
    proxy.raw(JSON.stringify([request('b1'), request('b2')]));
    for (const id of ['b1', 'b2'])
      expect(textIn(await proxy.seen((each) => each.id === id && each.method === undefined))).toContain('too large');
  });

  it('[P-12] [R-18] may come late: the equal call gets it cut, with its age', async () => {
    const proxy = await startLarge({ overallMs: 3000 });
    proxy.clock.stop();
    const before = proxy.proxy.path.stats.attempts;
    const first = proxy.call('act', { do: 'hold' });
    await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(before + 1);
    await proxy.call('put', { do: 'start' });
    proxy.clock.skip(3000);
    expect(textIn(await first)).toContain('make the same call again');
    await proxy.call('put', { do: 'release', more: ` ${large}` });
    const texts = textsOf(await proxy.call('act', { do: 'hold' }));
    expect(texts[0]).toContain('too large to be told whole');
    expect(texts[1]).toMatch(/^released it line 0\n/);
    expect(texts.at(-1)).toMatch(/Not called again: the same call was made .* ago/);
  });

  it('[P-12] is told whole where it cannot be kept, with an event', async () => {
    const proxy = await startLarge();
    writeFileSync(join(state, 'unwedge'), 'a file in the place of its folder');
    expect(textIn(await proxy.call('peek', { text: large }))).toBe(large);
    expect(await proxy.told('mcp.result_not_kept')).toMatchObject({ integration: 'kb', tool: 'peek' });
  });

  it('[P-12] is whole up to the characters that the definition of its tool wants', async () => {
    const tool = { name: 'peek', inputSchema: { type: 'object' }, _meta: { 'anthropic/maxResultSizeChars': 50_000 } };
    const proxy = await startLarge({ env: { LIST: JSON.stringify({ tools: [tool] }) } });
    expect(textIn(await proxy.call('peek', { text: large }))).toBe(large);
    expect(textIn(await proxy.call('put', { text: large }))).toContain('too large');
  });
});

describe('the tool that reads large results', () => {
  it('[P-12] is listed from the start, on the first page alone, and no tool promises a form any more', async () => {
    const tools = [{ name: 'one', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } }];
    const proxy = await startLarge({ env: { LIST: JSON.stringify({ tools, nextCursor: '1' }) } });
    const first = (await proxy.ask('tools/list')).result;
    expect(first).toMatchObject({ tools: [{ name: 'one' }, { name: read }], nextCursor: '1' });
    expect(JSON.stringify(first)).not.toContain('outputSchema');
    expect((await proxy.ask('tools/list', { cursor: '1' })).result?.['tools']).toHaveLength(1);
  });

  it('[P-12] is listed from the record of an earlier handshake too, which has it not', async () => {
    const directory = temporaryDirectory();
    const shelf = () =>
      new HandshakeFiles({ directory, identity: 'x', holdsSecret: () => false, now: () => 1_000_000 });
    const first = await startLarge({ handshakes: shelf() });
    await expect.poll(() => readdirSync(directory).length).toBeGreaterThan(1);
    await first.stop();
    expect(readdirSync(directory).some((name) => readFileSync(join(directory, name), 'utf8').includes(read))).toBe(
      false,
    );
    const second = await startLarge({ handshakes: shelf() });
    expect(await second.names()).toContain(read);
  });

  it('[P-12] says what to do of a handle that is unknown, and of arguments that are wrong', async () => {
    const proxy = await startLarge();
    const handle = handleOf(await proxy.call('peek', { text: large }));
    for (const wrong of ['x'.repeat(24), '../../etc/passwd', '']) {
      const { result } = await proxy.page(wrong);
      expect(result).toMatchObject({ isError: true });
      expect(result?.content?.[0]?.text).toContain('make the call that gave it again');
    }
    const from = '`from` has to be a whole number from 0, got';
    const bytes = '`bytes` has to be a whole number above 0, got';
    for (const [args, says] of [
      [{ from: -1 }, `${from} -1`],
      [{ from: 1.5 }, `${from} 1.5`],
      [{ from: '0' }, `${from} "0"`],
      [{ from: null }, `${from} null`],
      [{ bytes: -2 }, `${bytes} -2`],
      [{ bytes: 0 }, `${bytes} 0`],
      [{ bytes: 0.5 }, `${bytes} 0.5`],
      [{ bytes: {} }, `${bytes} an object`],
      [{ from: 1e9 }, `\`from\` has to be below ${large.length}, which is its size in bytes, got 1000000000`],
      [{ from: large.length }, `\`from\` has to be below ${large.length},`],
    ] as const) {
      const { result } = await proxy.call(read, { handle, ...args });
      expect(result).toMatchObject({ isError: true });
      expect(result?.content?.[0]?.text).toContain(`unwedge_read_result: ${says}`);
    }
    const end = await proxy.page(handle, large.length - 1);
    expect(textsOf(end)[1]).toBe(`(Bytes ${large.length - 1} to ${large.length} of ${large.length}. That is its end.)`);
    expect(textsOf(await proxy.page(handle, 0, 9))[0]).toBe('line 0\n');
  });

  it('[P-12] reads nothing of another client of the same server', async () => {
    const [one, other] = [await startLarge(), await startLarge()];
    const handle = handleOf(await one.call('peek', { text: large }));
    expect((await other.page(handle)).result).toMatchObject({ isError: true });
    expect((await one.page(handle)).result).not.toHaveProperty('isError');
  });

  it('[P-12] [P-11] is there whatever the rules say of the tools of the server', async () => {
    const proxy = await startLarge({ allow: ['peek'] });
    expect(await proxy.names()).toEqual(['peek', read]);
    const handle = handleOf(await proxy.call('peek', { text: large }));
    expect((await proxy.page(handle)).result).not.toHaveProperty('isError');
  });

  it.each([
    ['denied', { deny: ['*'] }, []],
    ['denied by its name', { deny: [read] }, ['peek', 'act']],
    ['renamed', { policies: { integrations: { kb: { tools: { '*': { rename: 'k_*' } } } } } }, ['k_peek', 'k_act']],
    ['held', { pin: true }, ['peek', 'act']],
  ])('[P-12] [P-11] is read on where the tools of the server are %s', async (_, options, names) => {
    const tools = ['peek', 'act'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const proxy = await startLarge({ tools, ...options });
    expect(await proxy.names()).toEqual([...names, read]);
    const [name] = names;
    const handle = name === undefined ? 'x'.repeat(24) : handleOf(await proxy.call(name, { text: large }));
    const { result } = await proxy.page(handle);
    expect(result?.content?.[0]?.text).toContain(name === undefined ? 'make the call that gave it again' : 'line 0');
  });

  it('[P-12] is left to a server that has one of that name', async () => {
    const tools = [{ name: read, inputSchema: { type: 'object' } }];
    const proxy = await startLarge({ env: { LIST: JSON.stringify({ tools }) } });
    expect(await proxy.names()).toEqual([read]);
    expect(textIn(await proxy.call(read, { text: large }))).toBe(large);
  });

  it('[P-12] is not there where clients are not told apart', async () => {
    const proxy = await startLarge({ isShared: true });
    expect(await proxy.names()).not.toContain(read);
    expect(textIn(await proxy.call('peek', { text: large }))).toBe(large);
  });
});
