import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture } from '../../../actors/mcp/mcpHarness.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type Message, startProxy, textIn } from '../startProxy.ts';

const tool = (name: string, more: object = {}): object => ({ name, inputSchema: { type: 'object' }, ...more });
const tools = [
  tool('read_file', {
    description: 'reads',
    annotations: { readOnlyHint: true },
    _meta: { 'x/y': [1, 2.5] },
    odd: { z: null },
  }),
  tool('write_file', { title: 'Write' }),
  tool('delete_file'),
];
const namesIn = ({ result }: Message): readonly unknown[] =>
  (result?.['tools'] as readonly { readonly name: unknown }[] | undefined)?.map(({ name }) => name) ?? [];
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };

describe('tools by rule in the proxy', () => {
  it('[P-11] that are denied are not listed, and a call of one has one answer, which names the rule', async () => {
    const proxy = await startProxy({ tools, allow: ['*_file'], deny: ['delete_*'] });
    await proxy.open();
    expect(namesIn(await proxy.ask('tools/list'))).toEqual(['read_file', 'write_file']);
    const refused = await proxy.call('delete_file', {}, 'mine');
    expect(textIn(refused)).toContain('The rule `deny: delete_*` keeps the tool delete_file of kb from being called');
    expect(refused.result).toMatchObject({
      isError: true,
      _meta: {
        'unwedge/failure': {
          kind: 'permanent',
          reason: 'denied',
          outcome: 'not_started',
          attempts: 0,
          retryable: false,
        },
      },
    });
    const received = await proxy.received().catch(() => []);
    expect(received.filter((line) => line.includes('delete_file'))).toEqual([]);
    expect(proxy.lines.filter((line) => line.includes('"mine"'))).toHaveLength(1);
    const told = await proxy.told('mcp.tool_failed');
    expect(told).toMatchObject({ tool: 'delete_file', kind: 'permanent', reason: 'denied', retries: 0 });
    const counted = proxy.runtime.statistics.of('kb').take();
    const ofIt = counted.filter(({ tool }) => tool === 'delete_file');
    expect(ofIt.map(({ refused, failed }) => [refused, failed])).toEqual([[1, {}]]);
    expect(counted[0]).toMatchObject({ tool: undefined, failed: {} });
    expect(counted[0]?.refused).toBeGreaterThan(0);
  });

  it('[P-11] leave what passes byte for byte where a rule changes nothing of it', async () => {
    const [open, plain] = [await startProxy({ tools, deny: ['nothing'] }), await startProxy({ tools })];
    for (const proxy of [open, plain]) {
      await proxy.open();
      await proxy.ask('tools/list', {}, 'list');
    }
    const lineOf = (lines: readonly string[]) => lines.filter((line) => line.includes('"list"'));
    expect(lineOf(open.lines)).toEqual(lineOf(plain.lines));
  });

  it('[P-11] are listed and called by the new name alone, with the description of the rule and all else as it was', async () => {
    const policies = {
      integrations: {
        kb: {
          tools: { read_file: { rename: 'fetch', describe: 'Fetches "a" file' }, write_file: { describe: 'Writes' } },
        },
      },
    };
    const proxy = await startProxy({ tools, policies });
    await proxy.open();
    const { result } = await proxy.ask('tools/list', {}, 'list');
    expect(result?.['tools']).toEqual([
      { ...tools[0], name: 'fetch', description: 'Fetches "a" file' },
      { ...tools[1], description: 'Writes' },
      tools[2],
    ]);
    expect(proxy.lines.find((line) => line.includes('"list"'))).toContain('"_meta":{"x/y":[1,2.5]},"odd":{"z":null}');
    expect(textIn(await proxy.call('fetch', { text: 'here' }))).toBe('here');
    expect(textIn(await proxy.call('read_file', {}))).toContain('`rename: fetch`');
    const calls = (await proxy.received()).filter((line) => line.includes('tools/call') && line.includes('here'));
    expect(calls.map((line) => (JSON.parse(line) as Message).params?.['name'])).toEqual(['read_file']);
  });

  it('[P-11] go by the server’s own name behind it: limits, effects and records', async () => {
    const policies = {
      integrations: { kb: { tools: { 'read_*': { rename: 'get_*', idleMs: 500, attemptMs: 1000, keepMs: 0 } } } },
    };
    const proxy = await startProxy({ tools, policies });
    await proxy.open();
    expect(textIn(await proxy.call('get_file', { do: 'hang', onStart: 99 }))).toContain('within 1s');
    expect(await proxy.told('mcp.tool_failed')).toMatchObject({ tool: 'read_file' });
  });

  it('[P-11] keep the cursor, page by page', async () => {
    const proxy = await startProxy({ tools, env: { PAGE: '1' }, deny: ['write_file'] });
    await proxy.open();
    const pages: unknown[] = [];
    for (let cursor: unknown = undefined, left = 5; left > 0; left--) {
      const page = await proxy.ask('tools/list', cursor === undefined ? {} : { cursor });
      pages.push(namesIn(page));
      cursor = page.result?.['nextCursor'];
      if (cursor === undefined) break;
    }
    expect(pages).toEqual([['read_file'], [], ['delete_file']]);
  });

  it('[P-11] hold in the stateless era as well', async () => {
    const proxy = await startProxy({
      tools,
      env: { STYLE: 'modern' },
      deny: ['delete_file'],
      policies: { integrations: { kb: { tools: { read_file: { rename: 'fetch' } } } } },
    });
    expect(namesIn(await proxy.ask('tools/list', modern))).toEqual(['fetch', 'write_file']);
    const refused = await proxy.ask('tools/call', { ...modern, name: 'delete_file', arguments: {} });
    expect(refused.result).toMatchObject({ resultType: 'complete', isError: true });
    expect(textIn(await proxy.ask('tools/call', { ...modern, name: 'fetch', arguments: { text: 'in' } }))).toBe('in');
  });

  it('[P-11] in a batch: the others pass, the refused one has its answer', async () => {
    const proxy = await startProxy({ tools, deny: ['delete_file'] });
    await proxy.open();
    const call = (id: string, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: { text: id } },
    });
    proxy.raw(JSON.stringify([call('b1', 'read_file'), call('b2', 'delete_file')]));
    expect(textIn(await proxy.seen(({ id }) => id === 'b1'))).toBe('b1');
    expect(textIn(await proxy.seen(({ id }) => id === 'b2'))).toContain('`deny: delete_file`');
  });

  it('[P-11] whose new name the server has itself are told, and the first is kept', async () => {
    const policies = { integrations: { kb: { tools: { write_file: { rename: 'read_file' } } } } };
    const proxy = await startProxy({ tools, policies });
    await proxy.open();
    expect(namesIn(await proxy.ask('tools/list'))).toEqual(['read_file', 'delete_file']);
    expect(proxy.said).toEqual([
      'The tool `write_file` of kb is left out: `read_file` is the name of its tool `read_file`',
    ]);
    expect(await proxy.told('mcp.left_out')).toMatchObject({
      name: 'write_file',
      as: 'read_file',
      reason: 'taken',
      of: 'read_file',
    });
  });

  describe.each([
    [
      'a pattern is taken by the server itself',
      ['files.x', 'read_x'],
      { 'read_*': { rename: 'files.*' } },
      'files.x',
      'files.x',
    ],
    ['the server lists its own first', ['list', 'delete'], { delete: { rename: 'list' } }, 'list', 'list'],
    ['the renamed one is listed first', ['delete', 'list'], { delete: { rename: 'list' } }, 'list', 'delete'],
    ['two change places', ['a', 'b'], { a: { rename: 'b' }, b: { rename: 'a' } }, 'a', 'b'],
    [
      'the one that is guessed is denied',
      ['files.x', 'read_x'],
      { 'read_*': { rename: 'files.*' } },
      'files.x',
      'files.x',
      ['read_*'],
    ],
    ['the server has no such tool', ['read_x'], { 'read_*': { rename: 'files.*' } }, 'files.x', 'read_x'],
  ] as const)('whose name is another’s where %s', (_, names, renames, called, meant, deny: readonly string[] = []) => {
    it.each([{}, { PAGE: '1' }, { STYLE: 'modern' }])(
      '[P-11] are the same before the list is known and after it: %j',
      async (env) => {
        const policies = { integrations: { kb: { tools: renames } } };
        const proxy = await startProxy({ tools: names.map((name) => tool(name)), policies, env, deny: [...deny] });
        const more = 'STYLE' in env ? modern : {};
        if (!('STYLE' in env)) await proxy.open();
        const call = (text: string) => proxy.ask('tools/call', { ...more, name: called, arguments: { text } });
        expect(textIn(await call('cold'))).toBe('cold');
        await proxy.ask('tools/list', more);
        expect(textIn(await call('warm'))).toBe('warm');
        expect(proxy.lines.filter((line) => line.includes('cold'))).toHaveLength(1);
        const calls = (await proxy.received()).filter((line) => /tools\/call.*(cold|warm)/.test(line));
        expect(calls.map((line) => (JSON.parse(line) as Message).params?.['name'])).toEqual([meant, meant]);
      },
    );
  });

  it('[P-11] ask for no list of their own where no name is in question', async () => {
    const policies = { integrations: { kb: { tools: { read_file: { rename: 'fetch' } } } } };
    const proxy = await startProxy({ tools, policies });
    await proxy.open();
    const listed = async () => (await proxy.received()).filter((line) => line.includes('tools/list')).length;
    const before = await listed();
    await proxy.call('write_file', { text: 'x' });
    const after = await listed();
    await proxy.call('fetch', { text: 'x' });
    await proxy.call('fetch', { text: 'x' });
    expect([after - before, (await listed()) - after]).toEqual([0, 1]);
  });

  it('[P-11] that nothing is written for are named: a pattern that fits no tool', async () => {
    const policies = { integrations: { kb: { tools: { 'reed_*': { idleMs: 5 }, 'read_*': { idleMs: 5 } } } } };
    const proxy = await startProxy({ tools, policies });
    await proxy.open();
    expect(proxy.said).toEqual([
      expect.stringContaining('kb has no tool "reed_*", which policies.integrations.kb.tools names'),
    ]);
  });

  it('[P-11] may be given limits by pattern', async () => {
    const proxy = await startProxy({ tools, toolMs: { '*_file': 5000, read_file: 1000 }, idleMs: 500, keepMs: 0 });
    await proxy.open();
    expect(textIn(await proxy.call('read_file', { do: 'hang', onStart: 99 }))).toContain('within 1s');
    expect(textIn(await proxy.call('write_file', { do: 'hang', onStart: 99 }))).toContain('within 5s');
  });

  it('[P-11] [R-16] that are denied may still be asked by a reconcile rule, which is ours', async () => {
    const directory = temporaryDirectory();
    const reconcile = {
      tool: 'list_payments',
      items: 'payments',
      match: { reference: 'input.reference' },
      result: 'item',
      endsWithProcess: true,
    } as const;
    const bank = { deny: ['list_payments'], tools: { charge: { reconcile, rename: 'pay' } } };
    const proxy = await startProxy({
      name: 'bank',
      args: [fixture('bankServer'), join(directory, 'payments'), join(directory, 'killed'), 'after'],
      policies: { integrations: { bank } },
    });
    await proxy.open();
    expect(textIn(await proxy.call('list_payments', {}))).toContain('`deny: list_payments`');
    const paid = await proxy.call('pay', { reference: 'o-7' });
    expect(paid.result).toMatchObject({ structuredContent: { id: 'ch_1', reference: 'o-7' } });
  });
});
