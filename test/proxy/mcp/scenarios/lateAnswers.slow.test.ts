import { describe, expect, it } from 'vitest';
import { proxyWhy } from '../../../../proxy/mcp/proxyWhy.ts';
import { whyText } from '../../../../cli/whyText.ts';
import { type Message, type Scripted, startProxy } from '../startProxy.ts';

const limitMs = 3000;
const timedOut = 'McpError: MCP error -32001: Request timed out';

/** Time for what was said to be heard. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const textsOf = (message: Message): string => (message.result?.content ?? []).map(({ text }) => text).join(' ');

/** A proxy whose limit on a call is 3 s, before a server that answers the call when it is told to. Time stands still but for `skip`. */
async function startSlow(options: Scripted = {}) {
  const proxy = await startProxy({ overallMs: limitMs, ...options });
  await proxy.open();
  proxy.clock.stop();
  let [asked, others] = [0, 0];
  const heard = async (word: string) => (await proxy.received()).filter((line) => line.includes(word));
  const asks = (tool = 'act', args: object = {}, id = `slow-${++asked}`) =>
    proxy.call(tool, { do: 'hold', ...args }, id);
  /** The server has read so many of these calls. */
  const hasRead = (count: number) => expect.poll(async () => (await heard('"do":"hold"')).length).toBe(count);
  return {
    ...proxy,
    asks,
    hasRead,
    /** A call that passes its limit; the answer to it. */
    async passesLimit(tool?: string, args?: object) {
      const before = proxy.proxy.path.stats.attempts;
      const answer = asks(tool, args);
      await expect.poll(() => proxy.proxy.path.stats.attempts).toBe(before + 1);
      await proxy.call('put', { do: 'start', nth: ++others });
      proxy.clock.skip(limitMs);
      return textsOf(await answer);
    },
    /** An equal call whose limit passes as well. */
    async passesJoined() {
      const answer = asks();
      await expect.poll(() => proxy.proxy.pending.calls.length).toBe(1);
      await proxy.call('put', { do: 'start', nth: ++others });
      proxy.clock.skip(limitMs);
      return textsOf(await answer);
    },
    release: async (key = 'it') => {
      await proxy.call('put', { do: 'release', key });
      await turns();
    },
    runs: async () => (await heard('"do":"hold"')).length,
    cancels: () => heard('notifications/cancelled'),
  };
}

describe('a call of a client that passes its limit, whose server answers later', () => {
  it('[R-18] says until when to ask again, and the server hears of no cancel', async () => {
    const slow = await startSlow();
    expect(await slow.passesLimit()).toMatch(/No answer within 3s.*make the same call again within 10m/);
    expect(await slow.cancels()).toEqual([]);
    expect(await slow.told('call.kept')).toMatchObject({ tool: 'act', forMs: 600_000 });
  });

  it.each(['act', 'plain'])(
    '[R-18] [P-3] runs once, and the next equal one gets its answer with its age: %s',
    async (tool) => {
      const slow = await startSlow();
      await slow.passesLimit(tool);
      slow.clock.skip(2000);
      await slow.release();
      slow.clock.skip(60_000);
      const answer = textsOf(await slow.asks(tool));
      expect(answer).toContain('released it');
      expect(answer).toMatch(/the same call was made 1m5s ago, and answered 1m ago/);
      expect(await slow.runs()).toBe(1);
      // Once: the next one asks for it to be done again.
      const again = slow.asks(tool);
      await slow.hasRead(2);
      await slow.release();
      expect(textsOf(await again)).toBe('released it');
    },
  );

  it('[R-18] is not given to one whose number no parser tells from its own', async () => {
    const slow = await startSlow();
    const asks = (id: string, n: string) =>
      slow.raw(
        `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"act","arguments":{"do":"hold","n":${n}}}}`,
      );
    asks('first', '1234567890123456789');
    await slow.hasRead(1);
    slow.clock.skip(limitMs);
    await slow.told('call.kept');
    await slow.release();
    asks('other', '1234567890123456788');
    await slow.hasRead(2);
    asks('same', '1234567890123456789');
    expect(textsOf(await slow.seen(({ id }) => id === 'same'))).toContain('the same call was made');
    expect(await slow.runs()).toBe(2);
  });

  it('[R-18] is joined while it runs', async () => {
    const slow = await startSlow();
    await slow.passesLimit();
    const joined = slow.asks();
    await slow.told('call.joined');
    await slow.release();
    expect(textsOf(await joined)).toMatch(/released it .*the same call was made 3s ago, and this is its answer/);
    expect(await slow.runs()).toBe(1);
  });

  it('[R-18] with a limit of 3 s of a tool that takes 5 s runs it once for the same call twice, and twice for two questions', async () => {
    const slow = await startSlow();
    expect(await slow.passesLimit('act', { key: 'one' })).toContain('make the same call again');
    const again = slow.asks('act', { key: 'one' });
    await slow.told('call.joined');
    slow.clock.skip(2000);
    await slow.release('one');
    expect(textsOf(await again)).toMatch(/released one .*the same call was made 5s ago/);
    expect(await slow.runs()).toBe(1);
    expect(await slow.passesLimit('act', { key: 'two' })).toContain('make the same call again');
    expect(await slow.runs()).toBe(2);
    slow.clock.skip(2000);
    await slow.release('two');
    expect(textsOf(await slow.asks('act', { key: 'two' }))).toContain('released two');
    expect(await slow.runs()).toBe(2);
  });

  it('[R-18] is joined whatever the order of what is asked', async () => {
    const slow = await startSlow();
    await slow.passesLimit('act', { key: 'it', more: [1] });
    await slow.release();
    expect(textsOf(await slow.call('act', { more: [1], key: 'it', do: 'hold' }))).toContain('released it');
    expect(await slow.runs()).toBe(1);
  });

  it('[R-18] is no answer to another question', async () => {
    const slow = await startSlow();
    await slow.passesLimit('act', { key: 'one' });
    await slow.release('one');
    const other = slow.asks('act', { key: 'two' });
    await slow.hasRead(2);
    await slow.release('two');
    expect(textsOf(await other)).toBe('released two');
  });

  it('[R-18] that only reads is joined while it runs, and made anew once it has ended', async () => {
    const slow = await startSlow();
    await slow.passesLimit('peek');
    const joined = slow.asks('peek');
    await slow.told('call.joined');
    await slow.release();
    expect(textsOf(await joined)).toContain('released it');
    expect(await slow.runs()).toBe(1);
    await slow.passesLimit('peek', { key: 'b' });
    await slow.release('b');
    const anew = slow.asks('peek', { key: 'b' });
    await slow.hasRead(3);
    await slow.release('b');
    expect(textsOf(await anew)).toBe('released b');
  });

  it('[R-18] whose work fails in the end gives that failure to the next equal one', async () => {
    const slow = await startSlow();
    await slow.passesLimit();
    await slow.call('put', { do: 'release', key: 'it', fails: true });
    await turns();
    const answer = await slow.asks();
    expect(answer.result?.['isError']).toBe(true);
    expect(textsOf(answer)).toContain('the same call was made 3s ago');
    expect(await slow.runs()).toBe(1);
  });

  it('[R-18] is kept no longer than it says: then the server is told, and the next equal one hears unknown, once', async () => {
    const slow = await startSlow({ keepMs: 60_000 });
    expect(await slow.passesLimit()).toContain('within 1m');
    slow.clock.skip(60_000);
    await slow.told('call.kept_ended');
    expect(await slow.cancels()).toEqual([expect.stringContaining('"requestId":"slow-1"')]);
    const answer = await slow.asks();
    expect(answer.result?.['isError']).toBe(true);
    expect(textsOf(answer)).toMatch(/outcome unknown/);
    expect(await slow.runs()).toBe(1);
    void slow.asks();
    await slow.hasRead(2);
  });

  it('[R-18] [P-3] whose server dies is not made again: the next equal one hears unknown, once', async () => {
    const slow = await startSlow();
    await slow.passesLimit();
    const { pid = 0 } = slow.proxy.pending;
    process.kill(pid, 'SIGKILL');
    expect(await slow.told('call.kept_ended')).toMatchObject({ how: 'lost' });
    expect(await slow.told('mcp.calls_lost')).toMatchObject({ lost: 1, calls: 'tools/call act', repeated: 0 });
    const answer = await slow.asks();
    expect(textsOf(answer)).toMatch(/outcome unknown/);
    expect(await slow.runs()).toBe(0);
    const again = slow.asks();
    await slow.hasRead(1);
    await slow.release();
    expect(textsOf(await again)).toBe('released it');
  });

  it('[R-18] that a server that answers no ping has is lost with it', async () => {
    const slow = await startSlow({ idleMs: 1000, whenAlive: 'wait' });
    const frozen = slow.call('act', { do: 'freeze' });
    await slow.seen(({ method }) => method === 'notifications/frozen');
    slow.clock.skip(limitMs);
    await turns();
    slow.clock.skip(5000);
    await frozen;
    await slow.told('integration.crashed');
    expect(textsOf(await slow.call('act', { do: 'freeze' }))).toMatch(/outcome unknown/);
  });

  it('[R-18] [R-16] that only reads is made again where its server hung meanwhile, and told of as that', async () => {
    const slow = await startSlow({ overallMs: 60_000, idleMs: 2000, whenAlive: 'end' });
    void slow.call('act', { do: 'freeze' });
    const read = slow.call('peek', { do: 'start' });
    await slow.seen(({ method }) => method === 'notifications/frozen');
    await expect.poll(() => slow.proxy.path.stats.attempts).toBe(2);
    slow.clock.skip(2000);
    await turns();
    slow.clock.skip(5000);
    const told = { lost: 1, calls: 'tools/call act', repeated: 1, repeatedCalls: 'tools/call peek' };
    expect(await slow.told('mcp.calls_lost')).toMatchObject(told);
    expect(textsOf(await read)).toBe('2');
  });

  it('[R-18] is told of by `unwedge why` for as long as it is kept', async () => {
    const slow = await startSlow();
    await slow.passesLimit();
    const text = (): string => whyText(proxyWhy(slow.proxy));
    expect(text()).toMatch(/act.*kept/);
    await slow.release();
    expect(text()).not.toMatch(/kept/);
  });

  it('[R-18] [G-15] is no repetition, however often it is asked for', async () => {
    const slow = await startSlow({ spinning: 'end' });
    await slow.passesLimit();
    for (let round = 0; round < 10; round++) expect(await slow.passesJoined()).toContain('make the same call again');
    expect(slow.facts.filter(({ type }) => type === 'session.spinning')).toEqual([]);
    expect(await slow.runs()).toBe(1);
  });

  it('[R-18] shows the client no progress of a call that has ended for it', async () => {
    const slow = await startSlow();
    const params = { name: 'act', arguments: { do: 'hold' }, _meta: { progressToken: 'mine' } };
    const answer = slow.ask('tools/call', params, 'slow');
    await slow.hasRead(1);
    slow.clock.skip(limitMs);
    await answer;
    const progress = { progressToken: 'mine', progress: 1 };
    await slow.call('put', { do: 'notify', method: 'notifications/progress', params: progress });
    expect(slow.lines.filter((line) => line.includes('notifications/progress'))).toEqual([]);
  });

  it('[R-18] is kept for 32 calls at once; the next one is told to end', async () => {
    const policies = { integrations: { kb: { breaker: { consecutiveFailures: 100, minimumAttempts: 50 } } } };
    const slow = await startSlow({ policies });
    for (let nth = 0; nth < 32; nth++) void slow.asks('act', { nth }, `kept-${nth}`);
    await slow.hasRead(32);
    slow.clock.skip(limitMs);
    await slow.told('call.kept', 32);
    expect(await slow.passesLimit('act', { nth: 33 })).not.toContain('make the same call again');
    expect(await slow.cancels()).toHaveLength(1);
  });

  it.each([
    ['it is shared by clients that nobody tells apart', { isShared: true }],
    ['it is off', { keepMs: 0 }],
  ])('[R-18] ends as ever where %s', async (_, options) => {
    const slow = await startSlow(options);
    expect(await slow.passesLimit()).not.toContain('make the same call again');
    expect(await slow.cancels()).toHaveLength(1);
    void slow.asks();
    await slow.hasRead(2);
  });
});

describe('a call that its client gives up', () => {
  it.each([timedOut, 'SdkError: Request timed out', 'timed out after 1.0s', 'timed out', 'request timeout'])(
    '[R-18] is kept where the reason is a limit of the client: %s',
    async (reason) => {
      const slow = await startSlow({ overallMs: 60_000 });
      void slow.asks();
      await slow.hasRead(1);
      slow.clock.skip(1234);
      slow.notify('notifications/cancelled', { requestId: 'slow-1', reason });
      await slow.told('call.kept');
      const again = slow.asks();
      await slow.told('call.joined');
      await slow.release();
      expect(textsOf(await again)).toContain('released it');
      expect(await slow.runs()).toBe(1);
      expect(await slow.cancels()).toEqual([]);
      expect(slow.lines.filter((line) => line.includes('"slow-1"'))).toEqual([]);
    },
  );

  it.each(['AbortError: user-cancel', 'operation cancelled', undefined])(
    '[R-18] ends where a person has done so: %s',
    async (reason) => {
      const slow = await startSlow({ overallMs: 60_000 });
      void slow.asks();
      await slow.hasRead(1);
      slow.notify('notifications/cancelled', { requestId: 'slow-1', reason });
      await expect.poll(slow.cancels).toHaveLength(1);
      void slow.asks();
      await slow.hasRead(2);
    },
  );

  it('[R-18] is kept though the client cancels it once more, as opencode does', async () => {
    const slow = await startSlow({ overallMs: 60_000 });
    void slow.asks();
    await slow.hasRead(1);
    slow.notify('notifications/cancelled', { requestId: 'slow-1', reason: timedOut });
    slow.notify('notifications/cancelled', { requestId: 'slow-1', reason: 'AbortError: The operation was aborted.' });
    await slow.told('call.kept');
    expect(await slow.cancels()).toEqual([]);
    await slow.release();
    expect(textsOf(await slow.asks())).toContain('released it');
  });

  it.each([
    [2001, 0],
    [1500, 1],
  ])('[R-18] is kept as Codex gives it up after %i ms, or ends', async (afterMs, cancels) => {
    const slow = await startSlow({ overallMs: 60_000 });
    void slow.asks();
    await slow.hasRead(1);
    slow.clock.skip(afterMs);
    slow.notify('notifications/cancelled', { requestId: 'slow-1', reason: 'MCP response future dropped' });
    await turns();
    expect(await slow.cancels()).toHaveLength(cancels);
  });

  it('[R-18] which has joined one that is kept ends that with it', async () => {
    const slow = await startSlow();
    await slow.passesLimit();
    void slow.asks();
    await slow.told('call.joined');
    slow.notify('notifications/cancelled', { requestId: 'slow-2', reason: 'AbortError: user-cancel' });
    await expect.poll(slow.cancels).toEqual([expect.stringContaining('"requestId":"slow-1"')]);
    void slow.asks();
    await slow.hasRead(2);
  });
});

describe('a call whose client gives it up as its answer is on its way', () => {
  const limitCancel = { requestId: 'slow-1', reason: timedOut };

  /** A call that was answered, whose client says after that that its own limit has passed. */
  async function crosses(tool: string, cancel: object = limitCancel, options: Scripted = {}, afterMs = 0) {
    const slow = await startSlow(options);
    const answer = slow.asks(tool);
    await slow.hasRead(1);
    slow.clock.skip(2000);
    await slow.release();
    await answer;
    slow.clock.skip(afterMs);
    slow.notify('notifications/cancelled', cancel);
    return slow;
  }

  it.each(['act', 'plain'])('[R-18] gives that to the next equal one, once: %s', async (tool) => {
    const slow = await crosses(tool);
    slow.clock.skip(60_000);
    const answer = textsOf(await slow.asks(tool));
    expect(answer).toContain('released it');
    expect(answer).toMatch(/the same call was made 1m2s ago, and answered 1m ago/);
    expect(await slow.runs()).toBe(1);
    expect(await slow.cancels()).toEqual([]);
    const again = slow.asks(tool);
    await slow.hasRead(2);
    await slow.release();
    expect(textsOf(await again)).toBe('released it');
  });

  it('[R-18] gives it once more where that call is crossed as well, with its true age', async () => {
    const slow = await crosses('act');
    slow.clock.skip(30_000);
    await slow.asks();
    slow.notify('notifications/cancelled', { requestId: 'slow-2', reason: timedOut });
    slow.clock.skip(30_000);
    expect(textsOf(await slow.asks())).toMatch(/the same call was made 1m2s ago, and answered 1m ago/);
    expect(await slow.runs()).toBe(1);
  });

  it('[R-18] has the next equal one hear that it was lost, where that was its answer', async () => {
    const slow = await startSlow();
    const lost = slow.asks();
    await slow.hasRead(1);
    process.kill(slow.proxy.pending.pid ?? 0, 'SIGKILL');
    expect(textsOf(await lost)).toMatch(/outcome unknown/);
    slow.notify('notifications/cancelled', limitCancel);
    expect(textsOf(await slow.asks())).toMatch(/the same call was made.*outcome unknown/);
    const again = slow.asks();
    await slow.hasRead(1);
    await slow.release();
    expect(textsOf(await again)).toBe('released it');
  });

  it.each([
    ['it only reads', 'peek', limitCancel],
    ['a person did', 'act', { ...limitCancel, reason: 'AbortError: user-cancel' }],
    // The TypeScript SDK says so of a signal whenever that fires: the answer may have been taken long before.
    ['a signal timed out', 'act', { ...limitCancel, reason: 'TimeoutError: The operation was aborted due to timeout' }],
    [
      'the words are not known to be said of what is awaited alone',
      'act',
      { ...limitCancel, reason: 'Error: timeout' },
    ],
    ['it is another', 'act', { ...limitCancel, requestId: 'slow-0' }],
    ['nothing is kept', 'act', limitCancel, { keepMs: 0 }],
    ['it is shared', 'act', limitCancel, { isShared: true }],
    ['it says so much later', 'act', limitCancel, {}, 10_001],
  ] as readonly [string, string, object, Scripted?, number?][])(
    '[R-18] is made anew by the next one where %s',
    async (_, tool, ...how) => {
      const slow = await crosses(tool, ...how);
      const again = slow.asks(tool);
      await slow.hasRead(2);
      await slow.release();
      expect(textsOf(await again)).toBe('released it');
    },
  );

  it('[R-18] is one of 32 of which that is known', async () => {
    const slow = await crosses('act', { requestId: 'nobody' });
    for (let nth = 0; nth < 32; nth++) await slow.call('put', { do: 'start', nth: `more-${nth}` });
    slow.notify('notifications/cancelled', limitCancel);
    const again = slow.asks();
    await slow.hasRead(2);
    await slow.release();
    expect(textsOf(await again)).toBe('released it');
  });
});
