import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../../support/deferred.ts';
import { isAlive } from '../../../support/temporary.ts';
import { openThread, quickTurn, says, type Script, startThread, type Step } from '../startCodex.ts';

const asks = (threadId: string, turnId: string, item: object) =>
  ['send', { method: 'item/completed', params: { threadId, turnId, item } }] as const;
const answers = (result: unknown) => ['send', { id: '$id', result }] as const;
const refuses = (message: string) => ['send', { id: '$id', error: { code: -32_600, message } }] as const;
const runs = (item: string, command: string, more: object = {}) => ['run', { item, command, ...more }] as const;

/** A command that says it is up and then runs on, under whatever keeps it. */
const endless = 'echo up; exec sleep 1000';
const begins = (...deeds: Step): Step => [['usual'], ...deeds];

/** A thread whose turns run what the script says, and the pids of that by item. */
async function startRunning(
  turns: readonly Step[],
  options: Parameters<typeof startThread>[1] = {},
  more: Script = {},
) {
  const started = await startThread({ 'turn/start': turns, ...more }, options);
  const pids = new Map<string, number>();
  const waiting = new Set<() => void>();
  started.codex.on('fake/runs', ({ params }) => {
    pids.set(params['item'] as string, params['pid'] as number);
    for (const look of waiting) look();
  });
  onTestFinished(() => {
    for (const pid of pids.values()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  const up = (...items: string[]): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (items.every((item) => pids.has(item))) resolve();
      };
      waiting.add(look);
      look();
    });
  const lives = (item: string): boolean => isAlive(pids.get(item) ?? 0);
  return { ...started, up, lives, pid: (item: string) => pids.get(item) ?? 0 };
}

const ways = {
  'ends at SIGTERM': endless,
  'ignores SIGTERM': `trap '' TERM; echo up; while :; do sleep 1; done`,
  'has a session of its own below it': 'setsid sleep 1000 & echo up; wait',
  'was left alone by what started it': '(setsid sleep 1000 &) ; echo up; exec sleep 1000',
  'hides its environment': `env -i /bin/sh -c 'echo up; sleep 1000; true'; true`,
};

describe('the commands of a turn that is given up', () => {
  it.each(Object.entries(ways))('[F-28] are ended with it: one that %s', async (_, command) => {
    const { thread, up, lives, until, of, facts } = await startRunning([begins(runs('c1', command)), quickTurn]);
    const turn = thread.send('hi');
    await up('c1');
    await until(turn.interrupt(), 5);
    expect(lives('c1')).toBe(false);
    expect(of('codex.app_server.turn.commands_ended')).toMatchObject([{ turn: 'turn-1', left: [] }]);
    expect(facts.find(({ type }) => type === 'codex.app_server.turn.commands_ended')).toMatchObject({
      ended: [expect.stringContaining(command.slice(0, 20))],
    });
    expect(await thread.send('next').outcome).toMatchObject({ ok: true });
  });

  it('[F-28] are its own: those of an earlier turn and of another thread run on', async () => {
    const two = [[['usual']], [answers({ thread: { id: 'thread-2' } })]] as const;
    const served = begins(runs('server', endless), says.message('up'), says.completed);
    const other = begins(runs('other', endless, { in: 'thread-2' }));
    const mine = begins(runs('mine', endless), runs('done', `${endless} &`));
    const started = await startRunning([served, other, mine], {}, { 'thread/start': two });
    const { codex, thread, up, lives, until } = started;
    expect(await thread.send('serve').outcome).toMatchObject({ ok: true });
    const second = await openThread(codex);
    void second.send('other');
    await up('server', 'other');
    const turn = thread.send('hi');
    await up('mine', 'done');
    await until(turn.interrupt(), 5);
    expect(['server', 'other', 'mine', 'done'].filter(lives)).toEqual(['server', 'other']);
  });

  it('[F-28] [R-8] are ended where its limit passed', async () => {
    const { thread, up, lives, until, wait } = await startRunning([begins(runs('c1', endless))]);
    const ended = wait('codex.app_server.turn.commands_ended');
    const turn = thread.send('hi', { overallMs: 60_000 });
    await up('c1');
    expect(await until(turn.outcome, 1000)).toMatchObject({ failure: { kind: 'timeout' } });
    await until(ended, 5);
    expect(lives('c1')).toBe(false);
  });

  it('[F-28] [I-3] are ended with the gateway', async () => {
    const { gateway, thread, up, lives, until } = await startRunning([begins(runs('c1', ways['ignores SIGTERM']))]);
    void thread.send('hi');
    await up('c1');
    await until(gateway.stop(), 5);
    expect(lives('c1')).toBe(false);
  });

  it('[F-28] of its sub-agents are ended with theirs, which are interrupted', async () => {
    const spawned = { type: 'collabAgentToolCall', id: 's', tool: 'spawnAgent', receiverThreadIds: ['helper'] };
    const waited = { type: 'collabAgentToolCall', id: 'w', tool: 'wait', receiverThreadIds: ['old'] };
    const helper = (method: string, threadId: string, params: object) =>
      ['send', { method, params: { threadId, ...params } }] as const;
    const step = begins(
      helper('turn/started', 'old', { turn: { id: 'turn-o' } }),
      asks('thread-1', 'turn-1', spawned),
      asks('thread-1', 'turn-1', waited),
      helper('turn/started', 'helper', { turn: { id: 'turn-1' } }),
      runs('c1', endless, { in: 'helper' }),
    );
    const { thread, up, lives, until, heardOf } = await startRunning([step]);
    const turn = thread.send('hi');
    await up('c1');
    await until(turn.interrupt(), 5);
    const interrupted = await heardOf('turn/interrupt', 2);
    expect(interrupted.map(({ params }) => params?.['threadId'])).toEqual(['thread-1', 'helper']);
    expect(lives('c1')).toBe(false);
  });

  it('[F-28] are ended where an answer to an approval ended the turn', async () => {
    const cancelled = { turn: { id: '$turn', status: 'interrupted', items: [] } };
    const running = deferred<void>();
    const { thread, up, lives, until } = await startRunning(
      [begins(runs('c1', endless), runs('c2', endless), says.asks(0))],
      { approve: () => running.promise.then(() => ({ decision: 'decline', interrupt: true })) },
      { answer: [[['send', { method: 'turn/completed', params: { threadId: '$thread', ...cancelled } }]]] },
    );
    const turn = thread.send('hi');
    await up('c1', 'c2');
    running.resolve();
    expect(await until(turn.outcome, 5)).toMatchObject({ failure: { kind: 'cancelled', outcome: 'unknown' } });
    expect([lives('c1'), lives('c2')]).toEqual([false, false]);
  });

  it('[F-28] are named in the failure of a turn that an answer to an approval ended, where they may still run', async () => {
    const cancelled = { turn: { id: '$turn', status: 'interrupted', items: [] } };
    const running = deferred<void>();
    const { thread, up, pid, until } = await startRunning(
      [begins(runs('c1', endless, { marked: false }), says.asks(0))],
      { approve: () => running.promise.then(() => ({ decision: 'decline', interrupt: true })) },
      { answer: [[['send', { method: 'turn/completed', params: { threadId: '$thread', ...cancelled } }]]] },
    );
    const turn = thread.send('hi');
    await up('c1');
    running.resolve();
    const told = new RegExp(
      String.raw`^The turn was interrupted; commands of it may still run: .*\(process ${pid('c1')}\)$`,
    );
    expect(await until(turn.outcome, 5)).toMatchObject({
      failure: { kind: 'cancelled', message: expect.stringMatching(told) as unknown },
    });
  });

  it('[F-28] are named where none of the processes says whose it is', async () => {
    const step = begins(runs('c1', endless, { marked: false }));
    const { thread, up, lives, pid, until, of, logged } = await startRunning([step]);
    const turn = thread.send('hi');
    await up('c1');
    await until(turn.interrupt(), 5);
    expect(lives('c1')).toBe(true);
    const left = [expect.stringContaining(`(process ${pid('c1')})`)];
    expect(of('codex.app_server.turn.commands_ended')).toMatchObject([{ ended: [], left }]);
    expect(logged.filter((line) => line.includes('may still run'))).toHaveLength(1);
  });
});

describe('the terminals of a turn that is given up', () => {
  const terminals = (...items: string[]) =>
    answers({ data: items.map((itemId) => ({ itemId, processId: `p-${itemId}`, command: itemId })), nextCursor: null });
  const unseen = runs('c1', endless, { marked: false });

  it('[F-28] are ended by Codex, and no others', async () => {
    const { thread, up, until, of, heardOf } = await startRunning(
      [begins(unseen)],
      { experimentalApi: true },
      {
        'thread/backgroundTerminals/list': [[terminals('c1', 'server')], [terminals('server')]],
        'thread/backgroundTerminals/terminate': [[answers({ terminated: true })]],
      },
    );
    const turn = thread.send('hi');
    await up('c1');
    await until(turn.interrupt(), 5);
    const ended = await heardOf('thread/backgroundTerminals/terminate');
    expect(ended.map(({ params }) => params)).toEqual([{ threadId: 'thread-1', processId: 'p-c1' }]);
    expect(of('codex.app_server.turn.commands_ended')).toMatchObject([{ ended: [{}], left: [] }]);
  });

  it.each([
    ['do not end', answers({ terminated: false })],
    ['are not ended at all', refuses('no')],
  ])('[F-28] are named where they %s', async (_, answer) => {
    const { thread, up, until, of } = await startRunning(
      [begins(unseen)],
      { experimentalApi: true },
      {
        'thread/backgroundTerminals/list': [[terminals('c1')]],
        'thread/backgroundTerminals/terminate': [[answer]],
      },
    );
    const turn = thread.send('hi');
    await up('c1');
    await until(turn.interrupt(), 5);
    expect(of('codex.app_server.turn.commands_ended')).toMatchObject([{ ended: [], left: [{}] }]);
  });
});
