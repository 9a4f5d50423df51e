import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Outcome } from '../../../../src/index.ts';
import { fakeMcpServer } from '../../../../testing/fakeMcpServer.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');
const large = lines(1000);
const read = 'unwedge_read_result';

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly _meta?: { readonly 'unwedge/result'?: { readonly handle: string; readonly head: number } };
}

/** A gateway whose server has a tool with a long answer, one that fails at length, and one that says little. */
async function start(options: object = { maxResult: 1000 }, configured?: number) {
  const folder = temporaryDirectory();
  const policies = configured === undefined ? undefined : { integrations: { kb: { maxResult: configured } } };
  const gateway = createGateway({ policies, store: join(folder, 'g.sqlite'), control: false });
  onTestFinished(() => gateway.stop());
  const fail = () => {
    throw new Error(large);
  };
  const kb = gateway.mcpServer('kb', {
    ...fakeMcpServer({ tools: { all: () => large, few: () => 'few', fail } }),
    ...options,
  });
  await gateway.start();
  const call = (name: string, args: Record<string, unknown> = {}): Promise<Outcome<Result>> =>
    kb.call({ name, arguments: args }) as Promise<Outcome<Result>>;
  const kept = (): readonly string[] => {
    try {
      return readdirSync(join(folder, 'results'));
    } catch {
      return [];
    }
  };
  return { gateway, kb, call, kept };
}

const valueOf = (outcome: Outcome<Result>): Result => {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
};
const handleOf = (result: Result): string => result._meta?.['unwedge/result']?.handle ?? '';

describe('a large result of a tool of an MCP server', () => {
  it('[P-12] is told as head and tail, and read on by a tool that is listed beside its own', async () => {
    const { call, kb } = await start();
    const tools = await kb.tools();
    expect(tools.ok && tools.value.map(({ name }) => name)).toEqual(['all', 'few', 'fail', read]);
    const told = valueOf(await call('all'));
    const { handle, head } = told._meta?.['unwedge/result'] ?? { handle: '', head: 0 };
    let whole = told.content[1]?.text ?? '';
    for (let from: number | undefined = head; from !== undefined; ) {
      const page = valueOf(await call(read, { handle, from }));
      whole += page.content[0]?.text ?? '';
      const next = /Read on from (\d+)/.exec(page.content[1]?.text ?? '')?.[1];
      from = next === undefined ? undefined : Number(next);
    }
    expect(whole).toBe(large);
    expect(valueOf(await call('few')).content).toHaveLength(1);
  });

  it('[P-12] is told whole without the option; what is configured wins over the code', async () => {
    const off = await start({});
    expect(valueOf(await off.call('all')).content).toMatchObject([{ text: large }]);
    expect(off.kept()).toEqual([]);
    const configured = await start({}, 2000);
    expect(handleOf(valueOf(await configured.call('all')))).not.toBe('');
    const whole = await start({ maxResult: 1000 }, 1_000_000);
    expect(valueOf(await whole.call('all')).content).toHaveLength(1);
  });

  it('[P-12] of an error has the handle in the text of the failure, which holds 2,000 characters', async () => {
    const { call } = await start({ maxResult: 5000 });
    const outcome = await call('fail');
    expect(outcome).toMatchObject({ ok: false, failure: { reason: 'tool_error' } });
    const [, handle = ''] = /"handle":"([^"]+)"/.exec(outcome.ok ? '' : outcome.failure.message) ?? [];
    expect(valueOf(await call(read, { handle, from: 0, bytes: 100 })).content[0]?.text).toContain('line 0\n');
  });

  it('[P-12] belongs to its session: another one, and a call of none, is told what to do', async () => {
    const { gateway, kb, call } = await start();
    const heard: Record<string, string> = {};
    let handle = '';
    const make = (id: string) =>
      gateway.session(id, {
        async onMessage({ text }, turn) {
          const result = await turn.tool(kb, text === 'all' ? 'all' : read, text === 'all' ? {} : { handle });
          if (result.status === 'ok' && text === 'all') handle = handleOf(result.value as Result);
          heard[`${id} ${text}`] = result.status === 'ok' ? 'ok' : String(result.error);
        },
      });
    const sessions = { one: make('one'), other: make('other') };
    const ask = async (id: 'one' | 'other', text: string): Promise<void> => {
      const sent = await sessions[id].send({ kind: 'user', text });
      if (sent.accepted) await sent.processed;
    };
    await ask('one', 'all');
    await ask('one', 'read');
    await ask('other', 'read');
    expect(heard['one read']).toBe('ok');
    expect(heard['other read']).toContain('make the call that gave it again');
    expect(await call(read, { handle })).toMatchObject({ ok: false, failure: { reason: 'tool_error' } });
  });

  it('[P-12] [P-11] is read on whatever the rules say of the tools of the server', async () => {
    const { call, kb } = await start({ maxResult: 1000, allow: ['all'] });
    const tools = await kb.tools();
    expect(tools.ok && tools.value.map(({ name }) => name)).toEqual(['all', read]);
    expect(valueOf(await call(read, { handle: handleOf(valueOf(await call('all'))) })).content[0]?.text).toContain(
      'line 0',
    );
  });

  it('[P-12] is left to a server that has one of that name, whose results are told whole', async () => {
    const theirs = (args: Record<string, unknown>) => `theirs: ${JSON.stringify(args)}`;
    const tools = { all: () => large, [read]: theirs };
    const { call, kb } = await start({ ...fakeMcpServer({ tools }), maxResult: 1000 });
    const listed = await kb.tools();
    expect(listed.ok && listed.value.map(({ name }) => name)).toEqual(['all', read]);
    expect(valueOf(await call('all')).content).toEqual([{ type: 'text', text: large }]);
    expect(valueOf(await call(read, { handle: 'x' })).content[0]?.text).toBe('theirs: {"handle":"x"}');
  });

  it('[P-12] [P-11] has a name that no rule gives another tool', async () => {
    const tools = { all: { rename: read } };
    await expect(start({ tools })).rejects.toThrow(/`kb\.tools\.all\.rename` to be none .*got unwedge_read_result/);
    expect(() => createGateway({ policies: { integrations: { kb: { tools } } } })).toThrow(
      /`policies\.integrations\.kb\.tools\.all\.rename` to be none/,
    );
  });

  it('[P-12] is refused as an option where it is no size, by its name and value', async () => {
    await expect(start({ maxResult: 999 })).rejects.toThrow(/`kb.maxResult` to be .* 1000.*999/);
    await expect(start({ maxResult: '100kB' })).rejects.toThrow(/maxResult/);
  });
});
