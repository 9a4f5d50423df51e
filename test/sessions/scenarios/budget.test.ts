import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import type { Registry } from '../../../src/runtime/registry.ts';
import { registryOf } from '../../../src/runtime/registryOf.ts';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import type { SessionOptions } from '../../../src/sessions/sessionOptions.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const dayMs = 24 * 3_600_000;

interface Started {
  readonly store?: string;
  readonly clock?: SimulatedClock;
  readonly session?: Partial<SessionOptions>;
}

/** A gateway with a tool `kb` whose calls are counted; `hangs` has it answer none. */
/** Lets I/O happen, and a little time pass, until a promise is settled. */
async function until(clock: SimulatedClock, promise: Promise<unknown>): Promise<void> {
  let isSettled = false;
  void promise.finally(() => (isSettled = true));
  while (!isSettled) await clock.advance(10);
}

const processed = (sent: Acceptance) => (sent.accepted ? sent.processed : undefined);

async function startGateway(
  budget: SessionOptions['budget'],
  onMessage: SessionOptions['onMessage'],
  more: Started = {},
) {
  const clock = more.clock ?? new SimulatedClock();
  const gateway = createGateway({
    store: more.store ?? ':memory:',
    clock,
    random: () => 0.5,
    control: false,
    logger: false,
  });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const made: unknown[] = [];
  gateway.integration('kb', { policy: { maxAttempts: 1 } }, async (request: { input: unknown }, { spent }) => {
    made.push(request.input);
    const { tokens, wait } = (request.input ?? {}) as { tokens?: number; wait?: Promise<unknown> };
    await Promise.resolve();
    if (tokens !== undefined) spent({ tokens });
    return wait ?? 'found';
  });
  const session = gateway.session('main', { budget, onMessage, ...more.session });
  await until(clock, gateway.start());
  onTestFinished(() => until(clock, gateway.stop()));
  const raise = (limit: string) => (registryOf(gateway) as Registry).budget('main', limit);
  return {
    gateway,
    raise,
    session,
    clock,
    made,
    facts,
    told: (type: string) => facts.filter((fact) => fact.type === type),
  };
}

const calls =
  (count: number, input?: object): SessionOptions['onMessage'] =>
  async (_message, turn) => {
    const results: unknown[] = [];
    for (let i = 0; i < count; i++) results.push((await turn.tool('kb', 'find', input ?? { i })).status);
    return results;
  };

describe('the budget of a session', () => {
  it('[G-16] [O-3] alerts once while it is spent, and gives the all-clear some time after it was raised', async () => {
    const { session, clock, raise, told } = await startGateway({ day: { toolCalls: 2 } }, calls(5));
    void session.send({ kind: 'user' });
    await clock.advance(30 * 60_000);
    const message = expect.stringMatching(
      /^main has spent 2 and waits for its budget of 2 tool calls of the day/,
    ) as unknown;
    const about = { integration: 'session:main', because: 'budget', kind: 'spinning', message };
    expect(told('alert.raised')).toMatchObject([about]);
    expect(told('alert.cleared')).toEqual([]);
    raise('toolCalls=9');
    await clock.advance(11 * 60_000);
    expect(told('alert.cleared')).toMatchObject([{ integration: 'session:main', by: 'quiet' }]);
    expect(told('alert.raised')).toHaveLength(1);
  });

  it('[G-16] has a tool call wait once it is spent, says why, and ends neither the turn nor the call for it', async () => {
    const { session, clock, made, told } = await startGateway({ day: { toolCalls: 3 } }, calls(5));
    const sent = session.send({ kind: 'user' });
    await clock.settle();
    await clock.advance(2 * 3_600_000);
    expect(made).toHaveLength(3);
    const why = session.why();
    expect(why.calls).toMatchObject([
      {
        tool: 'find',
        waitsFor:
          'waits for its budget of 3 tool calls of the day; goes on at 00:00 UTC, or: unwedge budget main --tool-calls 5',
      },
    ]);
    expect([why.rules, why.next]).toEqual([[], undefined]);
    expect(told('session.watchdog_fired')).toEqual([]);
    expect(told('budget.spent')).toHaveLength(1);
    await clock.advance(dayMs - (clock.wallNow() % dayMs) + 1000);
    expect(await processed(await sent)).toEqual({ ok: true, value: ['ok', 'ok', 'ok', 'ok', 'ok'] });
    expect(told('session.turn_failed')).toEqual([]);
  });

  it('[G-16] lets it go on within a second of a raise', async () => {
    const { session, raise, clock, made, told } = await startGateway({ session: { toolCalls: 2 } }, calls(4));
    const sent = session.send({ kind: 'user' });
    await clock.settle();
    await clock.advance(60_000);
    expect(session.why().calls[0]?.waitsFor).toContain('goes on by: unwedge budget main --tool-calls 3');
    expect(raise('toolCalls=4')).toMatchObject({ ok: true });
    await clock.advance(1000);
    expect(made).toHaveLength(4);
    expect(await processed(await sent)).toMatchObject({ ok: true });
    expect(told('budget.raised')).toHaveLength(1);
  });

  it('[G-16] counts calls that are made at once as one round', async () => {
    const { session, clock, made } = await startGateway({ turn: { rounds: 2 } }, async (_message, turn) => {
      await Promise.all([1, 2, 3].map((i) => turn.tool('kb', 'find', { i })));
      await Promise.all([4, 5].map((i) => turn.tool('kb', 'find', { i })));
      await turn.tool('kb', 'find', { i: 6 });
    });
    void session.send({ kind: 'user' });
    await clock.settle();
    await clock.advance(10_000);
    expect(made).toHaveLength(5);
    expect(session.why().calls[0]?.waitsFor).toContain('2 rounds of the turn');
  });

  it('[G-16] counts tokens that the turn and its tools tell; the overshoot is what was in flight', async () => {
    const { session, clock, made, told } = await startGateway({ session: { tokens: '1k' } }, async (_message, turn) => {
      turn.spend({ tokens: 400 });
      expect(() => turn.spend({ tokens: -1 })).toThrow('`costs.tokens`');
      await Promise.all([1, 2, 3].map(() => turn.tool('kb', 'find', { tokens: 350 })));
      await turn.tool('kb', 'find');
    });
    void session.send({ kind: 'user' });
    await clock.settle();
    await clock.advance(10_000);
    expect(made).toHaveLength(3);
    expect(told('budget.spent')).toMatchObject([{ metric: 'tokens', used: 1100, most: 1000 }]);
  });

  it('[G-16] refuses a wrong figure of what was spent, also without a budget', async () => {
    const { session, clock } = await startGateway(undefined, (_message, turn) => {
      turn.spend({ tokens: 1 });
      expect(() => turn.spend({ tokens: -1 })).toThrow('`costs.tokens`');
      return 'done';
    });
    const sent = session.send({ kind: 'user' });
    await clock.settle();
    expect(await processed(await sent)).toEqual({ ok: true, value: 'done' });
  });

  it('[G-16] does not hold what is under way: its answer is recorded', async () => {
    let answer: (value: string) => void = () => undefined;
    const wait = new Promise<string>((resolve) => (answer = resolve));
    const { session, clock } = await startGateway({ session: { tokens: 10 } }, async (_message, turn) => {
      const first = turn.tool('kb', 'find', { wait });
      turn.spend({ tokens: 50 });
      await first;
      await turn.tool('kb', 'find');
    });
    void session.send({ kind: 'user' });
    await clock.settle();
    answer('late');
    await clock.settle();
    expect(session.history.map(({ type }) => type)).toEqual(['message', 'tool_call', 'tool_result']);
    expect(session.why().calls).toHaveLength(1);
  });

  it('[G-16] a call that waits ends with its turn, by its signal and by an operator: it was not started', async () => {
    const results: unknown[] = [];
    const controller = new AbortController();
    const { session, clock, made } = await startGateway({ session: { toolCalls: 1 } }, async (_message, turn) => {
      await turn.tool('kb', 'find');
      results.push(await turn.tool('kb', 'find', {}, { signal: controller.signal }));
      results.push(await turn.tool('kb', 'find'));
    });
    void session.send({ kind: 'user' });
    await clock.settle();
    controller.abort(new Error('enough'));
    await clock.advance(1000);
    session.cancel(session.why().calls[0]?.call);
    await clock.settle();
    expect(results).toMatchObject([
      { status: 'error', kind: 'cancelled', outcome: 'not_started' },
      { status: 'error', kind: 'cancelled', outcome: 'not_started' },
    ]);
    expect([made.length, session.why().turn]).toEqual([1, undefined]);
  });

  it.skipIf(!hasSqlite)(
    '[G-16] is never between an effect and its record: a kill while a call waits leaves nothing open',
    async () => {
      const store = `${temporaryDirectory()}/gateway.sqlite`;
      const clock = new SimulatedClock();
      const before = await startGateway({ session: { toolCalls: 2 } }, calls(3), { store, clock });
      void before.session.send({ kind: 'user' });
      await clock.settle();
      await clock.advance(5000);
      const rows = openDatabase(store).prepare('SELECT state FROM unwedge_calls').all();
      expect(rows.map(({ state }) => state)).toEqual(['settled', 'settled']);
      await until(clock, before.gateway.stop());
      const after = await startGateway({ session: { toolCalls: 2 } }, calls(3), { store, clock });
      await clock.settle();
      await clock.advance(5000);
      expect(after.made).toEqual([]);
      expect(after.session.why()).toMatchObject({ turn: { delivery: 2 }, calls: [{ tool: 'find' }] });
      expect(after.session.why().calls[0]?.waitsFor).toContain('2 tool calls of the session');
      expect(after.told('budget.spent')).toEqual([]);
      expect(after.raise('toolCalls=10')).toMatchObject({ ok: true });
      await clock.advance(1000);
      expect(after.made).toHaveLength(3);
    },
  );
});
