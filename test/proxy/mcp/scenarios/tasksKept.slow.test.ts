import { describe, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type Message, type Scripted, startProxy, textIn } from '../startProxy.ts';

const limitMs = 3000;
const field = (name: string) => `io.modelcontextprotocol/${name}`;
const meta = (knows: boolean) => ({
  [field('protocolVersion')]: '2026-07-28',
  [field('clientInfo')]: { name: 'test', version: '1' },
  [field('clientCapabilities')]: knows ? { extensions: { [field('tasks')]: {} } } : {},
});
const taskIn = ({ result = {} }: Message) => (result['task'] ?? result) as Readonly<Record<string, unknown>>;

type Era = 'legacy' | 'modern';

/** A proxy with a limit of 3 s before a server without tasks, whose client speaks them. Time stands still but for `skip`. */
async function startSlow(era: Era, options: Scripted = {}) {
  const modern = era === 'modern';
  const proxy = await startProxy({ overallMs: limitMs, env: { STYLE: era }, ...options });
  const own = (knows = true): object => (modern ? { _meta: meta(knows) } : {});
  if (modern) {
    await proxy.ask('server/discover', own());
    await proxy.ask('tools/list', own());
  } else await proxy.open();
  proxy.clock.stop();
  let others = 0;
  const put = (args: object): Promise<Message> =>
    proxy.ask('tools/call', { name: 'put', arguments: args, ...own(false) });
  const heard = async (word: string): Promise<readonly string[]> =>
    (JSON.parse(textIn(await put({ do: 'received' }))) as string[]).filter((line) => line.includes(word));
  const asks = (tool = 'act', args: object = {}, knows = true): Promise<Message> =>
    proxy.ask('tools/call', {
      ...{ name: tool, arguments: { do: 'hold', ...args }, ...own(knows) },
      ...(!modern && knows && { task: { ttl: 9000 } }),
    });
  const passesLimit = async (...call: Parameters<typeof asks>): Promise<Message> => {
    const before = proxy.proxy.pending.calls.length;
    const answer = asks(...call);
    await expect.poll(() => proxy.proxy.pending.calls.length).toBe(before + 1);
    await put({ do: 'start', nth: ++others });
    proxy.clock.skip(limitMs);
    return answer;
  };
  const ask = (method: string, taskId: unknown, id?: string): Promise<Message> =>
    proxy.ask(`tasks/${method}`, { taskId, ...own() }, id);
  const release = async (more: object = {}): Promise<void> => {
    await put({ do: 'release', ...more });
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Its result, in the words of the era: of a task that has ended. */
  const result = async (taskId: unknown): Promise<Message> => {
    if (!modern) return ask('result', taskId);
    const { result: told, ...rest } = await ask('get', taskId);
    return { ...rest, result: told?.['result'], error: told?.['error'] ?? rest.error } as Message;
  };
  const runs = async (): Promise<number> => (await heard('"do":"hold"')).length;
  return { ...proxy, asks, passesLimit, ask, release, result, runs, heard, put };
}

describe.each(['legacy', 'modern'] as const)('a client that knows tasks, whose call is kept (%s)', (era) => {
  it('[P-12] [P-10] gets a large result of it cut, with a handle', async () => {
    vi.stubEnv('XDG_STATE_HOME', temporaryDirectory());
    vi.stubEnv('UNWEDGE_DB', '');
    const slow = await startSlow(era, { maxResult: 2000 });
    const { taskId } = taskIn(await slow.passesLimit());
    await slow.release({ more: 'x'.repeat(5000) });
    expect(textIn(await slow.result(taskId))).toMatch(/too large to be told whole.*"handle":"[\w-]{24}"/);
    vi.unstubAllEnvs();
  });

  it('[P-10] [R-18] is told of a task in place of the end, and gets the result from it, once', async () => {
    const slow = await startSlow(era);
    const answer = await slow.passesLimit();
    const task = taskIn(answer);
    const times = era === 'modern' ? { ttlMs: 600_000, pollIntervalMs: 1000 } : { ttl: 600_000, pollInterval: 1000 };
    expect(task).toMatchObject({
      taskId: expect.stringMatching(/^unwedge-task-[\w-]{36}/) as string,
      status: 'working',
      ...times,
    });
    expect(answer.result?.['resultType']).toBe(era === 'modern' ? 'task' : undefined);
    const { taskId } = task;
    expect((await slow.ask('get', taskId)).result).toMatchObject({ taskId, status: 'working', ...times });
    await slow.release();
    expect(textIn(await slow.result(taskId))).toBe('released it');
    expect((await slow.result(taskId)).error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining('handed out') as string,
    });
    expect(await slow.runs()).toBe(1);
    expect(await slow.heard('tasks/')).toEqual([]);
    // It was given: the next equal call is a new one.
    void slow.asks();
    await expect.poll(slow.runs).toBe(2);
  });

  it('[P-10] gets the result of a call that only reads from its task', async () => {
    const slow = await startSlow(era);
    const { taskId } = taskIn(await slow.passesLimit('peek'));
    await slow.release();
    expect(textIn(await slow.result(taskId))).toBe('released it');
    expect((await slow.result(taskId)).error?.code).toBe(-32_602);
    expect(await slow.runs()).toBe(1);
  });

  it('[P-10] gets it once, by the task or by the same call', async () => {
    const slow = await startSlow(era);
    const { taskId } = taskIn(await slow.passesLimit());
    await slow.release();
    expect(textIn(await slow.asks())).toContain('released it');
    const { error } = await slow.result(taskId);
    expect(error?.message).toMatch(/an equal call was given/);
    expect(await slow.runs()).toBe(1);
  });

  it('[P-10] is told of the same task by an equal call whose limit passes as well', async () => {
    const slow = await startSlow(era);
    const first = taskIn(await slow.passesLimit());
    const second = taskIn(await slow.passesLimit());
    expect(second['taskId']).toBe(first['taskId']);
    await slow.release();
    expect(textIn(await slow.result(first['taskId']))).toBe('released it');
    expect(await slow.runs()).toBe(1);
  });

  it('[P-10] cancels the work by its task', async () => {
    const slow = await startSlow(era);
    const { taskId } = taskIn(await slow.passesLimit());
    expect((await slow.ask('cancel', taskId)).error).toBeUndefined();
    await expect.poll(() => slow.heard('notifications/cancelled')).toHaveLength(1);
    expect((await slow.ask('get', taskId)).result).toMatchObject({ status: 'cancelled' });
    expect((await slow.ask('result', taskId)).error?.code).toBe(-32_602);
    void slow.asks();
    await expect.poll(slow.runs).toBe(2);
  });

  it('[P-10] hears that the outcome is unknown where the server died, or the time of keeping is over', async () => {
    const slow = await startSlow(era, { keepMs: 60_000 });
    const lost = taskIn(await slow.passesLimit());
    process.kill(slow.proxy.pending.pid ?? 0, 'SIGKILL');
    await slow.told('call.kept_ended');
    const ofLost = await slow.ask(era === 'legacy' ? 'result' : 'get', lost['taskId']);
    expect(JSON.stringify(ofLost.result?.['error'] ?? ofLost.error)).toMatch(/outcome unknown/);
    const expired = taskIn(await slow.passesLimit('act', { key: 'other' }));
    slow.clock.skip(60_000);
    await slow.told('call.kept_ended', 2);
    const { result, error } = await slow.ask(era === 'legacy' ? 'result' : 'get', expired['taskId']);
    expect(JSON.stringify(result?.['error'] ?? error)).toMatch(/outcome unknown/);
    expect(await slow.runs()).toBe(1);
  });

  it('[P-10] has the failure that the server answers in the end', async () => {
    const slow = await startSlow(era);
    const { taskId } = taskIn(await slow.passesLimit());
    await slow.release({ fails: true });
    expect((await slow.result(taskId)).result).toMatchObject({ isError: true });
  });

  it('[P-10] asks for nothing of another connection, and for none that is not known', async () => {
    const one = await startSlow(era);
    const { taskId } = taskIn(await one.passesLimit());
    const other = await startSlow(era);
    expect((await other.ask('get', taskId)).result).toBeUndefined();
    expect((await one.ask('get', `${String(taskId)}0`)).error?.code).toBe(-32_602);
    await one.release();
    expect(textIn(await one.result(taskId))).toBe('released it');
  });

  it('[P-10] has nothing to update', async () => {
    const slow = await startSlow(era);
    const { taskId } = taskIn(await slow.passesLimit());
    expect((await slow.ask('update', taskId)).error?.code).toBe(-32_602);
  });

  it('[P-10] [R-18] is told in words where it does not speak of them with its call', async () => {
    const slow = await startSlow(era);
    expect(textIn(await slow.passesLimit('act', {}, false))).toContain('make the same call again within 10m');
  });
});

describe('a request for the result of a task that works (2025-11-25)', () => {
  it('[P-10] waits for it', async () => {
    const slow = await startSlow('legacy');
    const { taskId } = taskIn(await slow.passesLimit());
    const result = slow.ask('result', taskId);
    await slow.told('call.joined');
    await slow.release();
    expect((await result).result).toMatchObject({
      content: [{ text: 'released it' }],
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    });
    expect((await slow.ask('get', taskId)).result).toMatchObject({
      status: 'completed',
      statusMessage: expect.stringContaining('handed out') as string,
    });
  });

  it('[P-10] may be given up: the result is still to be had', async () => {
    const slow = await startSlow('legacy');
    const { taskId } = taskIn(await slow.passesLimit());
    void slow.ask('result', taskId, 'gone');
    await slow.told('call.joined');
    slow.notify('notifications/cancelled', { requestId: 'gone', reason: 'AbortError: enough' });
    await slow.release();
    expect(textIn(await slow.ask('result', taskId))).toBe('released it');
    expect(slow.lines.filter((line) => line.includes('"gone"'))).toEqual([]);
    expect(await slow.heard('notifications/cancelled')).toEqual([]);
  });
});
