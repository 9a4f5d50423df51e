import { describe, expect, it } from 'vitest';
import { faultyServer } from '../../../support/faultyServer.ts';
import { textIn } from '../../http/startHttp.ts';
import { startHub } from '../startHub.ts';

const version = 'io.modelcontextprotocol/protocolVersion';
const changed = 'notifications/tools/list_changed';
const toolsOf = (name: string) => ['peek', 'put', 'act'].map((tool) => `${name}__${tool}`);

describe('several servers behind one client', () => {
  it('[P-8] are one: their tools have names that begin with theirs, and each call goes to its server', async () => {
    const hub = await startHub({ one: {}, other: {} });
    const opened = await hub.open();
    expect(opened.result).toMatchObject({
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'unwedge' },
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
    });
    expect(opened.result?.['capabilities']).not.toHaveProperty('prompts');
    expect(await hub.toolNames()).toEqual([...toolsOf('one'), ...toolsOf('other')]);
    expect(await hub.call('one__act', { do: 'pid' })).not.toBe(await hub.call('other__act', { do: 'pid' }));
    const received = await hub.call('one__act', { do: 'received' });
    expect(received).toContain('\\"name\\":\\"act\\"');
    expect(hub.runtime.root.children().map(({ id }) => id)).toEqual(expect.arrayContaining(['mcp:one', 'mcp:other']));
  });

  it('[P-8] all pages of a list are one', async () => {
    const hub = await startHub({ one: { env: { PAGE: '1' } }, other: {} });
    await hub.open();
    const { result } = await hub.ask('tools/list');
    expect(result?.['tools']).toHaveLength(6);
    expect(result).not.toHaveProperty('nextCursor');
  });

  it('[P-8] a name that is too long, and one that two have, is left out and said once', async () => {
    const long = 'x'.repeat(62);
    const hub = await startHub({
      a: faultyServer({ tools: ['b__c', long, 'fine'] }),
      a__b: faultyServer({ tools: ['c'] }),
    });
    await hub.open();
    const names = await hub.toolNames();
    await hub.toolNames();
    expect(names.filter((name) => name === 'a__b__c')).toHaveLength(1);
    expect(names).toContain('a__fine');
    expect(names.some((name) => name.includes(long))).toBe(false);
    expect(hub.said.filter((line) => line.includes('left out'))).toEqual([
      `The tool \`${long}\` of a is left out: \`a__${long}\` has 65 characters, 64 are the most`,
      'The tool `c` of a__b is left out: `a__b__c` is taken by `b__c` of a',
    ]);
    expect(hub.left.map(({ what, own, as, reason, by }) => [what, own, as, reason, by?.member.name])).toEqual([
      ['tool', long, `a__${long}`, 'too_long', undefined],
      ['tool', 'c', 'a__b__c', 'taken', 'a'],
    ]);
  });

  it('[P-8] a tool that no server has is refused with the names of the servers', async () => {
    const hub = await startHub({ one: {}, other: {} });
    await hub.open();
    const { error } = await hub.ask('tools/call', { name: 'third__act', arguments: {} });
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('one, other') as string });
  });

  it('[P-8] what they ask goes to the client, and its answer to the one that asked, whatever ids they use', async () => {
    const hub = await startHub({ one: {}, other: {} });
    await hub.open({ roots: {} });
    const calls = ['one', 'other'].map((name) =>
      hub.call(`${name}__act`, { do: 'ask', method: 'roots/list', askId: 0 }),
    );
    const asked = [await hub.heard('roots/list'), await hub.heard('roots/list', 2)];
    expect(asked[0]?.id).not.toBe(asked[1]?.id);
    for (const { id } of asked) hub.raw({ id, result: { roots: [{ uri: `file:///${id}` }] } });
    const answers = await Promise.all(calls);
    expect(new Set(answers).size).toBe(2);
    for (const answer of answers) expect(answer).toContain('"id":0');
  });

  it('[P-8] progress, cancellation and levels of logging pass', async () => {
    const hub = await startHub({ one: {}, other: {} });
    await hub.open();
    hub.raw({
      id: 'p',
      method: 'tools/call',
      params: { name: 'one__act', arguments: { do: 'progress' }, _meta: { progressToken: 't' } },
    });
    expect((await hub.heard('notifications/progress')).params).toMatchObject({ progressToken: 't' });
    hub.raw({ method: 'notifications/cancelled', params: { requestId: 'p' } });
    expect((await hub.ask('logging/setLevel', { level: 'error' })).result).toEqual({});
    expect(await hub.call('one__act', { do: 'received' })).toContain('notifications/cancelled');
    for (const name of ['one', 'other']) {
      expect(await hub.call(`${name}__act`, { do: 'received' })).toContain('logging/setLevel');
    }
  });

  it('[P-8] [I-3] end with their client', async () => {
    const hub = await startHub({ one: {}, other: {} });
    await hub.open();
    hub.input.end();
    await hub.hub.ended;
    expect(hub.runtime.root.children()).toEqual([]);
  });
});

describe('one server among several', () => {
  it('[P-8] [I-1] that dies in mid call does not touch the others, and its tools stay listed', async () => {
    const hub = await startHub({ one: {}, other: {} });
    await hub.open();
    await hub.toolNames();
    const pid = await hub.call('other__act', { do: 'pid' });
    expect(await hub.call('one__act', { do: 'kill' })).toContain('ended by SIGKILL');
    expect(await hub.toolNames()).toEqual([...toolsOf('one'), ...toolsOf('other')]);
    expect(await hub.call('other__act', { do: 'pid' })).toBe(pid);
    expect(await hub.call('one__act', { do: 'start' })).toBe('2');
  });

  it('[P-8] whose command is not there is said to be missing; the others are served, and a call of it is answered', async () => {
    const hub = await startHub({ gone: { command: '/nowhere/at-all' }, other: {} });
    expect((await hub.open()).result).toBeDefined();
    expect(await hub.toolNames()).toEqual(toolsOf('other'));
    expect(hub.said.join('\n')).toContain('gone does not answer for now: ');
    const answer = await hub.ask('tools/call', { name: 'gone__act', arguments: {} });
    expect(textIn(answer)).toMatch(/no such command.*trying the same again is not expected to help/);
    expect(answer.result).toMatchObject({ _meta: { 'unwedge/failure': { retryable: false } } });
  });

  it('[P-8] that does not come up delays nothing; its tools come when it does', async () => {
    const hub = await startHub({ late: {}, other: {} }, ['late']);
    expect((await hub.open()).result).toBeDefined();
    // The other one may have been late itself.
    if ((await hub.toolNames()).length === 0) await hub.heard(changed);
    expect(await hub.toolNames()).toEqual(toolsOf('other'));
    await hub.until(() => hub.said.find((line) => line.startsWith('late does not answer for now')));
    const before = hub.messages.filter(({ method }) => method === changed).length;
    hub.mend('late');
    hub.clock.skip(15_000);
    await hub.heard(changed, before + 1);
    expect(await hub.toolNames()).toEqual([...toolsOf('late'), ...toolsOf('other')]);
  });

  it('[P-8] whose process ends at its start is waited for one second more, though it is tried again', async () => {
    const failing = { env: { FAIL_STARTS: '1', STALL_STARTS: '2' } };
    const hub = await startHub({ bad: failing, one: {} });
    const opening = hub.open();
    await hub.told('call.succeeded');
    await hub.told('process.exited');
    hub.clock.skip(1000);
    expect((await opening).result).toBeDefined();
    expect(await hub.toolNames()).toEqual(toolsOf('one'));
  });

  it('[P-8] that hangs delays a list once, by three seconds, and its tools stay', async () => {
    const hub = await startHub({ one: {}, other: {} });
    await hub.open();
    await hub.toolNames();
    void hub.call('one__act', { do: 'freeze' });
    await hub.heard('notifications/frozen');
    const list = hub.toolNames();
    hub.clock.skip(3000);
    expect(await list).toEqual([...toolsOf('one'), ...toolsOf('other')]);
    expect(await hub.toolNames()).toEqual([...toolsOf('one'), ...toolsOf('other')]);
  });
});

describe('one server among several that hangs from its start', () => {
  const stalls = { env: { STALL_STARTS: '1' } };
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  async function started() {
    const hub = await startHub({ slow: stalls, one: {} });
    const opening = hub.open();
    await hub.told('call.succeeded');
    await turns();
    return { ...hub, opening };
  }

  async function opened() {
    const hub = await started();
    hub.clock.skip(4000);
    await hub.opening;
    return {
      ...hub,
      /** All that was sent has been read. */
      taken: () => hub.call('one__act', { do: 'echo', text: 'taken' }),
      /** The handshake has failed, `afterMs` from here on, and another server is there. */
      async fails(afterMs: number) {
        hub.clock.skip(afterMs);
        await hub.until(() => hub.said.find((line) => line.startsWith('slow does not answer for now')));
        hub.runtime.root.restartChild('mcp:slow');
        await hub.told('process.started', 3);
      },
    };
  }

  it('[P-8] has the client wait for four seconds, within the five of Claude Code, and hides none of the others', async () => {
    const { opening, clock, messages, toolNames } = await started();
    clock.skip(3999);
    await turns();
    expect(messages).toEqual([]);
    clock.skip(1);
    expect((await opening).result).toMatchObject({ capabilities: { tools: { listChanged: true } } });
    expect(await toolNames()).toEqual(toolsOf('one'));
  });

  it('[P-8] has its tools told as a change when it comes up', async () => {
    const { clock, messages, toolNames, heard, fails } = await opened();
    await fails(180_000);
    expect(messages.filter(({ method }) => method === changed)).toEqual([]);
    clock.skip(15_000);
    await heard(changed);
    expect(await toolNames()).toEqual([...toolsOf('slow'), ...toolsOf('one')]);
  });

  it('[P-8] [R-12] has begun no call that waited for it, and says so after 20 s', async () => {
    const { clock, ask, raw, taken, messages } = await opened();
    const call = ask('tools/call', { name: 'slow__act', arguments: {} }, 'call');
    const prompt = ask('prompts/get', { name: 'slow__any' }, 'prompt');
    raw({ id: 'off', method: 'tools/call', params: { name: 'slow__act', arguments: {} } });
    raw({ method: 'notifications/cancelled', params: { requestId: 'off' } });
    await taken();
    clock.skip(19_999);
    await taken();
    expect(messages.some(({ id }) => id === 'call')).toBe(false);
    clock.skip(1);
    const details = { kind: 'unavailable', outcome: 'not_started', elapsedMs: 20_000, attempts: 0, retryable: true };
    expect((await call).result).toMatchObject({ isError: true, _meta: { 'unwedge/failure': details } });
    expect(textIn(await call)).toBe(
      'slow has not come up (it is still starting): it was not started; it may be tried again.',
    );
    expect(await prompt).toMatchObject({ error: { data: { 'unwedge/failure': details } } });
    expect(messages.some(({ id }) => id === 'off')).toBe(false);
  });

  it('[P-8] [R-12] has begun no call when it fails; the next call has it greeted at once, and is served', async () => {
    const { clock, ask, call, taken, fails } = await opened();
    clock.skip(170_000);
    const waiting = ask('tools/call', { name: 'slow__act', arguments: {} });
    await taken();
    await fails(10_000);
    expect(textIn(await waiting)).toBe(
      'slow has not come up (No answer to initialize within 3m): it was not started; it may be tried again.',
    );
    expect(await call('slow__act', { do: 'start' })).toBe('2');
    const received = await call('slow__act', { do: 'received' });
    expect(received.match(/tools\/call/g)).toHaveLength(2);
  });

  it('[P-8] hears how much of the log the client wants when it comes up', async () => {
    const { ask, call, fails } = await opened();
    expect((await ask('logging/setLevel', { level: 'error' })).result).toEqual({});
    await fails(180_000);
    expect(await call('slow__act', { do: 'start' })).toBe('2');
    for (const name of ['one', 'slow']) {
      expect(await call(`${name}__act`, { do: 'received' })).toContain('logging/setLevel');
    }
  });
});

describe('servers of the stateless era behind one client', () => {
  const modern = { env: { STYLE: 'modern' } };
  const params = (more: object = {}) => ({ _meta: { [version]: '2026-07-28' }, ...more });

  it('[P-8] are discovered as one, and listed without a handshake', async () => {
    const hub = await startHub({ one: modern, other: modern });
    expect((await hub.ask('server/discover', params())).result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      serverInfo: { name: 'unwedge' },
    });
    expect(
      (await hub.ask('tools/call', params({ name: 'other__act', arguments: { text: 'hi' } }))).result,
    ).toMatchObject({
      content: [{ text: 'hi' }],
    });
  });

  it('[P-8] have the client shake hands when one of them knows nothing else', async () => {
    const hub = await startHub({ one: modern, other: {} });
    expect((await hub.ask('server/discover', params())).error?.code).toBe(-32_601);
    expect((await hub.open()).result).toBeDefined();
    expect(await hub.toolNames()).toEqual(toolsOf('other'));
  });

  it('[P-8] are listened to as one', async () => {
    const hub = await startHub({ one: modern, other: modern });
    await hub.ask('server/discover', params());
    hub.raw({ id: 'l', method: 'subscriptions/listen', params: params({ notifications: { toolsListChanged: true } }) });
    await hub.heard('notifications/subscriptions/acknowledged');
    expect(await hub.call('one__act', { do: 'echo', text: 'up' })).toBe('up');
    expect(await hub.call('other__act', { do: 'echo', text: 'up' })).toBe('up');
    expect(hub.messages.filter(({ method }) => method === 'notifications/subscriptions/acknowledged')).toHaveLength(1);
  });
});
