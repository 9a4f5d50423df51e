import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Gateway, type SessionOptions, treeText } from '../../../src/index.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';

const file = (): string => join(temporaryDirectory(), 'gateway.sqlite');
const user = (text: string) => ({ kind: 'user', text });
const onMessage: SessionOptions['onMessage'] = ({ text }) => `did ${text}`;

function makeGateway(store: string, ids: readonly string[] = ['a', 'b', 'c'], more: Partial<SessionOptions> = {}) {
  const clock = new SkippingClock();
  const gateway = createGateway({ store, control: false, retention: false, clock });
  onTestFinished(() => gateway.stop());
  const told: { readonly type: string }[] = [];
  gateway.on('*', (fact) => void told.push(fact));
  const [a, b, c] = ids.map((id) => gateway.session(id, { onMessage, ...more }));
  if (a === undefined || b === undefined || c === undefined) throw new Error('three sessions');
  return { gateway, clock, told, a, b, c };
}

const types = (told: readonly { readonly type: string }[]): string[] => told.map(({ type }) => type);
const nodes = (gateway: Gateway) => (gateway.tree().children ?? []).map(({ id, state }) => `${id} ${state}`);
const started = (told: readonly { readonly type: string }[]) =>
  told.filter(({ type }) => type === 'session.started' || type === 'child.started');

async function processed(
  session: { send: Gateway['session'] extends never ? never : ReturnType<Gateway['session']>['send'] },
  text: string,
) {
  const answer = await session.send(user(text));
  if (!answer.accepted) throw new Error(answer.reason);
  return answer.processed;
}

describe.skipIf(!hasSqlite)('sessions that sleep', () => {
  it('[V-9] are listed as asleep and permanent, without an actor, and nothing of a start is told of them', async () => {
    const { gateway, told, a } = makeGateway(file());
    expect([gateway.tree().children, a.state]).toEqual([[], 'stopped']);
    await gateway.start();
    expect(gateway.tree().children).toEqual(
      ['a', 'b', 'c'].map((id) => ({
        ...{ id: `session:${id}`, type: 'worker', state: 'asleep', incarnation: 0, restarts: 0, restart: 'permanent' },
      })),
    );
    expect([a.state, a.waiting, a.heldElsewhere]).toEqual(['idle', 0, false]);
    expect(started(told)).toEqual([]);
  });

  it('[V-9] have an actor from their first message on, each for itself, and stay the handle they were', async () => {
    const { gateway, told, b } = makeGateway(file());
    await gateway.start();
    expect(await processed(b, 'one')).toEqual({ ok: true, value: 'did one' });
    expect(nodes(gateway)).toEqual(['session:b running', 'session:a asleep', 'session:c asleep']);
    expect(gateway.tree().children?.[0]).toMatchObject({ incarnation: 1, machineState: 'idle', restart: 'permanent' });
    expect(started(told)).toMatchObject([{ session: 'b', incarnation: 1 }, { child: 'session:b' }]);
    expect(gateway.session('b')).toBe(b);
    expect(await processed(b, 'two')).toEqual({ ok: true, value: 'did two' });
    expect(started(told)).toHaveLength(2);
  });

  it('[V-9] take messages in order, those that were sent before the start first', async () => {
    const seen: unknown[] = [];
    const { gateway, a } = makeGateway(file(), undefined, { onMessage: ({ text }) => void seen.push(text) });
    const early = a.send(user('early'));
    await gateway.start();
    const answers = [early, ...['one', 'two', 'three'].map((text) => a.send(user(text)))];
    expect(a.waiting).toBeGreaterThan(0);
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ accepted: true, durable: true });
      if (answer.accepted) await answer.processed;
    }
    expect(seen).toEqual(['early', 'one', 'two', 'three']);
  });

  it('[V-9] [G-11] are woken by the start where an earlier run left them something, and by nothing else', async () => {
    const store = file();
    const first = makeGateway(store, undefined, {
      onMessage: (_, turn) =>
        new Promise((_end, fail) => turn.signal.addEventListener('abort', () => fail(new Error('cut')))),
    });
    await first.gateway.start();
    await first.b.send(user('cut'));
    await first.b.send(user('waits'));
    await first.gateway.stop();
    const second = makeGateway(store);
    const resumed = second.gateway.wait('session.resumed');
    const ended = second.gateway.wait('session.turn_ended', { where: ({ message }) => message === 'b-m2' });
    await second.gateway.start();
    expect(await resumed).toMatchObject({ session: 'b', waiting: 2 });
    await ended;
    expect(nodes(second.gateway)).toEqual(['session:b running', 'session:a asleep', 'session:c asleep']);
  });

  it('[V-9] answer what is asked of them, and sleep on: history, keys and why', async () => {
    const store = file();
    const first = makeGateway(store);
    await first.gateway.start();
    const sent = await first.a.send(user('one'), { key: 'k' });
    if (sent.accepted) await sent.processed;
    await first.gateway.stop();
    const { gateway, a, b } = makeGateway(store);
    await gateway.start();
    expect(a.history).toMatchObject([{ type: 'message', id: 'a-m1' }]);
    expect([a.knows('k'), a.knows('x'), b.knows('k')]).toEqual([true, false, false]);
    expect(a.why()).toMatchObject({ session: 'a', state: 'idle', waiting: 0 });
    expect(a.cancel()).toMatchObject({ ok: false });
    expect(nodes(gateway)).toEqual(['session:a asleep', 'session:b asleep', 'session:c asleep']);
    expect(await a.send(user('one'), { key: 'k' })).toMatchObject({ accepted: false, reason: 'duplicate', id: 'a-m1' });
    expect(await a.send(user('two'))).toMatchObject({ accepted: true, id: 'a-m2' });
  });

  it('[V-9] [V-6] are started by a restart, as a child that had stopped', async () => {
    const { gateway, told } = makeGateway(file());
    await gateway.start();
    gateway.restart('session:a');
    expect(nodes(gateway)).toEqual(['session:a running', 'session:b asleep', 'session:c asleep']);
    expect(types(told)).toContain('operator.restarted');
    gateway.restart('a');
    await gateway.wait('session.started', { where: ({ incarnation }) => incarnation === 2 });
  });

  it('[V-9] [G-18] end without an actor, and go on when they are named again', async () => {
    const { gateway, told, a } = makeGateway(file());
    expect(await a.close()).toMatchObject({ ok: false });
    await gateway.start();
    expect(await a.close()).toEqual({ ok: true, text: 'a is closed.' });
    expect(nodes(gateway)).toEqual(['session:b asleep', 'session:c asleep']);
    expect(await a.send(user('late'))).toEqual({ accepted: false, reason: 'closed' });
    const again = gateway.session('a', { onMessage });
    expect(await processed(again, 'one')).toEqual({ ok: true, value: 'did one' });
    expect(started(told)).toHaveLength(2);
  });

  it('[V-9] [G-18] are let go when they are idle', async () => {
    const { gateway, clock } = makeGateway(file(), undefined, { idleCloseMs: '1h' });
    const closed = gateway.wait('session.closed');
    await gateway.start();
    clock.skip(61 * 60_000);
    expect(await closed).toMatchObject({ because: 'idle' });
  });

  it('[V-9] [G-11] belong to one gateway of a file, and go to the next when that has left', async () => {
    const store = file();
    const one = makeGateway(store);
    await one.gateway.start();
    const two = makeGateway(store);
    await two.gateway.start();
    expect([one.a.heldElsewhere, two.a.heldElsewhere]).toEqual([false, true]);
    expect(await two.a.send(user('no'))).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    expect(await processed(one.a, 'one')).toEqual({ ok: true, value: 'did one' });
    await one.gateway.stop();
    const three = makeGateway(store);
    await three.gateway.start();
    expect(three.a.heldElsewhere).toBe(false);
    expect(three.a.history).toHaveLength(1);
  });

  it('[V-9] [G-11] learn from their first write that another has taken them over, and claim anew where that one is gone', async () => {
    const store = file();
    const { gateway, told, a } = makeGateway(store);
    await gateway.start();
    openDatabase(store).exec(`UPDATE unwedge_sessions SET owner = 'a dead one', fence = fence + 1 WHERE id = 'a'`);
    expect(await processed(a, 'one')).toEqual({ ok: true, value: 'did one' });
    expect(types(told)).toContain('session.taken_over');
    const rows = openDatabase(store).prepare('SELECT count(*) AS messages FROM unwedge_messages').all();
    expect(rows).toEqual([{ messages: 1 }]);
    const [owned] = openDatabase(store).prepare(`SELECT fence FROM unwedge_sessions WHERE id = 'a'`).all();
    expect(owned).toEqual({ fence: 3 });
  });

  it('[V-9] [G-9] enter a file that was put in the place of theirs with their first message', async () => {
    const store = file();
    const { gateway, a } = makeGateway(store);
    await gateway.start();
    for (const suffix of ['', '-wal', '-shm']) rmSync(store + suffix, { force: true });
    const gone = gateway.wait('store.recovered');
    expect(await a.send(user('one'))).toMatchObject({ accepted: true });
    await gone;
    expect(await a.send(user('two'))).toMatchObject({ accepted: true, durable: true });
    const rows = openDatabase(store).prepare('SELECT id FROM unwedge_sessions').all();
    expect(rows).toEqual([{ id: 'a' }]);
  });

  it('[V-9] [I-3] refuse messages once their gateway drains or has stopped, and keep what was kept', async () => {
    const store = file();
    const { gateway, a, b } = makeGateway(store);
    await gateway.start();
    await processed(a, 'one');
    const stopping = gateway.stop({ drainMs: 1000 });
    expect(await b.send(user('late'))).toEqual({ accepted: false, reason: 'stopped' });
    await stopping;
    expect([b.state, b.waiting, b.history]).toEqual(['stopped', 0, []]);
    expect(await b.send(user('later'))).toEqual({ accepted: false, reason: 'stopped' });
    expect(nodes(gateway)).toEqual(['session:a stopped']);
  });

  it('[V-9] are only those that are kept: what memory alone holds has its actor from the start', async () => {
    const kept = makeGateway(file(), undefined, { durable: false });
    const memory = makeGateway(':memory:');
    for (const { gateway } of [kept, memory]) {
      await gateway.start();
      expect(nodes(gateway)).toEqual(['session:a running', 'session:b running', 'session:c running']);
    }
  });

  it('[V-9] are counted behind all others where a tree is shown', async () => {
    const ids = Array.from({ length: 70 }, (_, index) => `s${index}`);
    const { gateway } = makeGateway(file(), ids);
    await gateway.start();
    await processed(gateway.session('s69'), 'one');
    const text = treeText(gateway.tree(), { maxChildren: 3 });
    expect(text).toMatch(/session:s69 +running/);
    expect(text).toMatch(/session:s0 +asleep/);
    expect(text).toContain('… and 67 more (67 asleep)');
  });
});
