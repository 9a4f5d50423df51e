import { describe, expect, it, onTestFinished } from 'vitest';
import { join } from 'node:path';
import { type Acceptance, createGateway, type GatewayOptions, type SessionOptions } from '../../../src/index.ts';
import { fakeMcpServer, SimulatedClock } from '../../../testing/index.ts';
import { registryOf } from '../../../src/runtime/registryOf.ts';
import { openReader } from '../../../reader/openReader.ts';
import { deferred } from '../../support/deferred.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

type Handler = SessionOptions['onMessage'];

async function startGateway(onMessage: Handler, more: Partial<SessionOptions> = {}, options: GatewayOptions = {}) {
  const { store = join(temporaryDirectory(), 'gateway.sqlite') } = options as { store?: string };
  const clock = new SkippingClock();
  const gateway = createGateway({ clock, control: false, ...options, store });
  onTestFinished(() => gateway.stop());
  const told: unknown[] = [];
  gateway.on('*', (fact) => void told.push(fact));
  const make = () => gateway.session('agent:main', { onMessage, ...more });
  const session = make();
  await gateway.start();
  const facts = (type: string) => told.filter((fact) => (fact as { type: string }).type === type);
  const letters = async () => {
    const reader = await openReader(store);
    const found = await reader.deadLetters('agent:main');
    reader.close();
    return found;
  };
  return { gateway, clock, session, make, facts, letters, store };
}

async function accepted<T>(answer: Promise<Acceptance<T>>) {
  const given = await answer;
  if (!given.accepted) throw new Error(`refused: ${given.reason}`);
  return given;
}

/** A handler whose turns end when the test says so, and which heeds its signal. */
function held() {
  const answers: (() => void)[] = [];
  const seen: (string | undefined)[] = [];
  const onMessage: Handler = (message, turn) => {
    seen.push(message.text);
    const answer = deferred<string>();
    answers.push(() => answer.resolve('answered'));
    turn.signal.addEventListener('abort', () => answer.reject(turn.signal.reason as Error));
    return answer.promise;
  };
  return { onMessage, seen, answer: () => answers.shift()?.() };
}

describe('a session that is closed', () => {
  it('[G-18] refuses messages as closed, tells why it ended, and is no session of its gateway any more', async () => {
    const { gateway, session, facts } = await startGateway(() => 'done');
    await (await accepted(session.send({ kind: 'user', text: 'one' }))).processed;
    expect(await session.close({ reason: 'the user\nlogged out' })).toEqual({
      ok: true,
      text: 'agent:main is closed.',
    });
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'closed' });
    expect(facts('session.closed')).toMatchObject([
      { session: 'agent:main', because: 'closed', reason: 'the user logged out', cut: false, deadLetters: 0 },
    ]);
    expect(() => gateway.session('agent:main')).toThrow('No session `agent:main`');
    expect(JSON.stringify(gateway.tree())).not.toContain('session:agent:main');
    expect(await session.close()).toMatchObject({ ok: true });
    expect(facts('session.closed')).toHaveLength(1);
  });

  it('[G-18] goes on with what is kept of it when it is named again: history, numbers and keys', async () => {
    const { session, make } = await startGateway(({ text }) => text);
    const { id, processed } = await accepted(session.send({ kind: 'user', text: 'one' }, { key: 'k' }));
    await processed;
    await session.close();
    const again = make();
    expect(await again.send({ kind: 'user', text: 'one' }, { key: 'k' })).toMatchObject({ reason: 'duplicate', id });
    const second = await accepted(again.send({ kind: 'user', text: 'two' }));
    expect(second.id).toBe('agent:main-m2');
    await second.processed;
    expect(again.history.filter(({ type }) => type === 'message')).toHaveLength(2);
  });

  it('[G-18] [I-5] cuts the turn under way and tells its sender; what waits are dead letters that can be sent again', async () => {
    const { onMessage, seen, answer } = held();
    const { session, make, facts, letters } = await startGateway(onMessage);
    const sent = [];
    for (const text of ['one', 'two', 'three']) sent.push(await accepted(session.send({ kind: 'user', text })));
    await expect.poll(() => seen).toEqual(['one']);
    const { text } = await session.close({ reason: 'moved' });
    expect(text).toBe('agent:main is closed. Its turn was cut. Messages that waited are dead letters: 2.');
    const failed = (outcome: string) => ({
      ok: false,
      failure: { kind: 'cancelled', reason: 'closed', message: 'The session was closed: moved', outcome },
    });
    expect(await Promise.all(sent.map(({ processed }) => processed))).toMatchObject([
      failed('unknown'),
      failed('not_started'),
      failed('not_started'),
    ]);
    expect(facts('session.dead_letter')).toMatchObject([
      { message: 'agent:main-m2', reason: 'closed' },
      { message: 'agent:main-m3', reason: 'closed' },
    ]);
    expect(await letters()).toMatchObject([
      { id: 'agent:main-m3', reason: 'closed', text: 'three', canSend: true },
      { id: 'agent:main-m2', reason: 'closed', text: 'two', canSend: true },
    ]);
    const again = make();
    await expect.poll(() => again.sendAgain('agent:main-m2')).toMatchObject({ ok: true });
    await expect.poll(() => seen).toEqual(['one', 'two']);
    answer();
    expect(await letters()).toMatchObject([{ id: 'agent:main-m3' }]);
  });

  it.each([false, true])(
    '[G-18] tells the sender of a turn that was cut so, though its handler returns, unless it has said that it is done: %s',
    async (isDone) => {
      const begun = deferred<void>();
      const { session } = await startGateway(async (_message, turn) => {
        if (isDone) await turn.done();
        begun.resolve(undefined);
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        return 'half done';
      });
      const { processed } = await accepted(session.send({ kind: 'user' }));
      await begun.promise;
      await session.close();
      const told = isDone ? { ok: true, value: 'half done' } : { failure: { kind: 'cancelled', reason: 'closed' } };
      expect(await processed).toMatchObject(told);
    },
  );

  it('[G-18] lets the turn and what waits end within drainMs', async () => {
    const { session, facts, letters } = await startGateway(({ text }) => Promise.resolve(text));
    const sent = [];
    for (const text of ['one', 'two', 'three']) sent.push(await accepted(session.send({ kind: 'user', text })));
    const closing = session.close({ drainMs: 60_000 });
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'closed' });
    expect(await closing).toEqual({ ok: true, text: 'agent:main is closed.' });
    expect(await Promise.all(sent.map(({ processed }) => processed))).toMatchObject([
      { value: 'one' },
      { value: 'two' },
      { value: 'three' },
    ]);
    expect(facts('session.closed')).toMatchObject([{ cut: false, deadLetters: 0 }]);
    expect(await letters()).toEqual([]);
  });

  it('[G-18] cuts what has not ended when drainMs is over, and leaves a handler behind that does not heed it', async () => {
    const { session, facts } = await startGateway(() => new Promise(() => undefined), { watchdog: { releaseMs: 30 } });
    const hung = await accepted(session.send({ kind: 'user' }));
    const waits = await accepted(session.send({ kind: 'user' }));
    expect(await session.close({ drainMs: 20 })).toMatchObject({ ok: true });
    expect(await hung.processed).toMatchObject({ failure: { reason: 'closed', outcome: 'unknown' } });
    expect(await waits.processed).toMatchObject({ failure: { reason: 'closed', outcome: 'not_started' } });
    expect(facts('session.closed')).toMatchObject([{ cut: true, deadLetters: 1 }]);
  });

  it('[G-18] of which nothing is kept tells its senders, and makes no dead letters', async () => {
    const { onMessage } = held();
    const { session, facts } = await startGateway(onMessage, { durable: false });
    const sent = [await accepted(session.send({ kind: 'user' })), await accepted(session.send({ kind: 'user' }))];
    await session.close();
    for (const { processed } of sent) expect(await processed).toMatchObject({ failure: { reason: 'closed' } });
    expect(facts('session.dead_letter')).toEqual([]);
    expect(facts('session.closed')).toMatchObject([{ cut: true, deadLetters: 0 }]);
  });

  it('[G-18] is not delivered again at the next start: neither what was cut nor what waited', async () => {
    const { onMessage } = held();
    const { gateway, session, store } = await startGateway(onMessage);
    await accepted(session.send({ kind: 'user', text: 'cut' }));
    await accepted(session.send({ kind: 'user', text: 'waits' }));
    await session.close();
    await gateway.stop();
    const seen: unknown[] = [];
    const next = await startGateway(({ text }) => void seen.push(text), {}, { store });
    await (await accepted(next.session.send({ kind: 'user', text: 'new' }))).processed;
    expect(seen).toEqual(['new']);
  });

  it('[G-18] before the start of its gateway, and while that stops, is not closed, and says so', async () => {
    const gateway = createGateway({ control: false });
    const session = gateway.session('agent:main', { onMessage: () => undefined });
    expect(await session.close()).toMatchObject({
      ok: false,
      text: expect.stringContaining('has not started') as unknown,
    });
    await gateway.start();
    const stopping = gateway.stop();
    expect(await session.close()).toEqual({ ok: false, text: 'Its gateway stops.' });
    await stopping;
  });

  it.each([
    [{ reason: 7 }, 'reason'],
    [{ drainMs: -1 }, 'drainMs'],
    [{ drain: 1 }, 'drain'],
  ])('[G-18] refuses %j by name', async (options, named) => {
    const { session } = await startGateway(() => undefined);
    expect(() => session.close(options as object)).toThrow(named);
    expect(await session.send({ kind: 'user' })).toMatchObject({ accepted: true });
  });
});

describe('idleCloseMs', () => {
  it('[G-18] lets a session go in which nothing happens for so long, and not before', async () => {
    const { gateway, clock, session, make, facts } = await startGateway(({ text }) => text, { idleCloseMs: '1h' });
    for (let hour = 0; hour < 3; hour++) {
      clock.skip(50 * 60_000);
      await (await accepted(session.send({ kind: 'user', text: String(hour) }))).processed;
    }
    expect(facts('session.closed')).toEqual([]);
    clock.skip(61 * 60_000);
    await expect.poll(() => facts('session.closed')).toMatchObject([{ because: 'idle', cut: false, deadLetters: 0 }]);
    expect(registryOf(gateway)?.sessions.size).toBe(0);
    const again = make();
    await (await accepted(again.send({ kind: 'user', text: 'again' }))).processed;
    expect(again.history).toHaveLength(4);
  });

  it('[G-18] never lets one go whose turn is under way, however long', async () => {
    const { onMessage, seen, answer } = held();
    const { clock, session, facts } = await startGateway(onMessage, { idleCloseMs: '1m', watchdog: { turnMs: '10h' } });
    const { processed } = await accepted(session.send({ kind: 'user', text: 'long' }));
    await expect.poll(() => seen).toEqual(['long']);
    clock.skip(60 * 60_000);
    expect(facts('session.closed')).toEqual([]);
    answer();
    expect(await processed).toMatchObject({ value: 'answered' });
    clock.skip(59_000);
    expect(facts('session.closed')).toEqual([]);
    clock.skip(2_000);
    await expect.poll(() => facts('session.closed')).toHaveLength(1);
  });

  it.each([
    ['while it ends', false],
    ['once it has ended', true],
  ] as const)(
    '[G-18] [I-5] has a message that is sent %s taken by the session that is adopted then: nobody need know that it was idle',
    async (_when, hasEnded) => {
      const { gateway, clock, session, facts } = await startGateway(() => 'first', { idleCloseMs: '1m' });
      gateway.adoptSessions((id) => (id === 'agent:main' ? { onMessage: ({ text }) => `second ${text}` } : undefined));
      await (await accepted(session.send({ kind: 'user' }, { key: 'one' }))).processed;
      clock.skip(61_000);
      const ending = () => registryOf(gateway)?.sessions.get('agent:main')?.idleMs === undefined;
      const isSo = hasEnded ? () => facts('session.closed').length === 1 : ending;
      await expect.poll(isSo, { interval: 1 }).toBe(true);
      const { id, processed } = await accepted(session.send({ kind: 'user', text: 'late' }));
      expect({ id, end: await processed }).toMatchObject({
        id: 'agent:main-m2',
        end: { ok: true, value: 'second late' },
      });
      expect(facts('session.closed')).toMatchObject([{ because: 'idle' }]);
      expect(await session.send({ kind: 'user' }, { key: 'one' })).toMatchObject({ reason: 'duplicate' });
      await gateway.stop();
      expect(await session.send({ kind: 'user' })).toMatchObject({ accepted: false });
    },
  );

  it('[G-18] [I-4] refuses it as closed where nobody adopts it, and tells the sender what its adoption throws', async () => {
    const { gateway, clock, session, facts } = await startGateway(() => 'first', { idleCloseMs: '1m' });
    clock.skip(61_000);
    await expect.poll(() => facts('session.closed')).toHaveLength(1);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'closed' });
    gateway.adoptSessions(() => {
      throw new Error('no such customer');
    });
    await expect(session.send({ kind: 'user' })).rejects.toThrow('no such customer');
  });

  it('[G-18] is off by default, and may be set for all sessions or one', async () => {
    const { gateway, clock, facts } = await startGateway(() => 'x', {}, { sessions: { idleCloseMs: '1h' } });
    gateway.session('stays', { onMessage: () => 'x', idleCloseMs: '1000h' });
    const off = await startGateway(() => 'x');
    for (const each of [clock, off.clock]) each.skip(5 * 3_600_000);
    await expect.poll(() => facts('session.closed')).toMatchObject([{ session: 'agent:main', because: 'idle' }]);
    expect(off.facts('session.closed')).toEqual([]);
  });

  /** A gateway whose sessions go when they are idle for a minute, with a tool whose calls are kept and one approval. */
  async function startIdle() {
    const clock = new SimulatedClock();
    const gateway = createGateway({
      ...{ clock, control: false, inbox: true, store: ':memory:' },
      sessions: { idleCloseMs: '1m' },
    });
    onTestFinished(() => gateway.stop());
    const built = deferred<string>();
    gateway.mcpServer('ci', {
      ...fakeMcpServer({ tools: { build: () => built.promise } }),
      keepMs: '10m',
      policy: { limits: { idleMs: 3000, attemptMs: 3000, overallMs: 60_000 }, retry: { maxAttempts: 1 } },
    });
    const approve = gateway.approval('deploys');
    const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('ci', 'build', {}) });
    const closed: unknown[] = [];
    gateway.on('session.closed', (fact) => void closed.push(fact));
    await gateway.start();
    await clock.settle();
    return { clock, gateway, built, approve, session, closed };
  }

  it('[G-18] [R-18] never lets one go of which a call is kept', async () => {
    const { clock, built, session, closed } = await startIdle();
    const { processed } = await accepted(session.send({ kind: 'user' }));
    await clock.advance(3000);
    expect(await processed).toMatchObject({ value: { status: 'error', kind: 'timeout' } });
    await clock.advance(5 * 60_000);
    expect(closed).toEqual([]);
    built.resolve('built');
    await clock.advance(2 * 60_000);
    expect(closed).toMatchObject([{ because: 'idle' }]);
  });

  it('[G-18] [G-17] never lets one go for which a person is asked', async () => {
    const { clock, gateway, approve, closed } = await startIdle();
    const answer = approve({ action: 'deploy', session: 'agent:main' });
    await clock.advance(5 * 60_000);
    expect(closed).toEqual([]);
    const [question] = (await gateway.inbox?.open()) ?? [];
    await gateway.inbox?.answer(question?.id ?? '', { decision: 'accept', way: 'code' });
    expect(await answer).toMatchObject({ decision: 'accept' });
    await clock.advance(2 * 60_000);
    expect(closed).toMatchObject([{ because: 'idle' }]);
  });
});
