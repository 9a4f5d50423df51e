import { describe, expect, it } from 'vitest';
import type { OpenAlert } from '../../../src/policy/records/alertRecord.ts';
import type { Fact, Told } from '../../../src/policy/facts/facts.ts';
import type { RecoveryLimits, SessionLedger } from '../../../src/sessions/sessionStore.ts';
import type { Store } from '../../../src/store/store.ts';
import { failed, sessionsOf } from '../startStore.ts';
import type { ReadableEngine, StartedReadable } from './readable.ts';

const now = Date.UTC(2026, 0, 1);
const minute = 60_000;
const day = 24 * 60 * minute;

const told = (fact: Fact, at: number): Told<Fact> => ({ ...fact, at });

const limits: RecoveryLimits = {
  maxDeliveries: 1,
  maxAgeMs: Infinity,
  wallNow: now,
  answer: () => ({ status: 'error', error: 'lost', retries: 0, recoverable: false }),
  facts: (): readonly Fact[] => [],
  keeps: () => true,
};

/** What any store that others can read shows them. */
export function isRead(engine: ReadableEngine): void {
  async function start(runtimePid?: number) {
    const started = await engine.start();
    return { ...started, store: await started.open(runtimePid) };
  }

  const record = async (store: Store, ...facts: readonly Told<Fact>[]): Promise<void> => {
    for (const fact of facts) store.record(fact);
    await store.flush();
  };

  describe('the status', () => {
    it('[O-1] counts the failures of each integration within 10 min and a day', async () => {
      const { store, read } = await start();
      const { failure } = failed(0);
      const ages = [25 * 60, 24 * 60, 11, 10, 1];
      const facts = ages.map((ago) =>
        failed(0, { at: now - ago * minute, failure: { ...failure, message: `${ago} min ago` } }),
      );
      await record(store, ...facts);
      const { events, integrations } = await (await read()).status(now);
      expect(events).toBe(5);
      expect(integrations).toEqual([
        {
          integration: 'kb',
          failures10m: 1,
          failures24h: 3,
          crashes10m: 0,
          crashes24h: 0,
          lastError: { at: now - minute, kind: 'timeout', error: '1 min ago' },
          circuit: 'closed',
          breaker: undefined,
          runtimes: [],
        },
      ]);
    });

    it('[O-1] counts in all what each process has recorded, and by process', async () => {
      const { store, open, read } = await start(7);
      const other = await open(8);
      await record(store, failed(0, { at: now - 2 * minute }));
      await record(
        other,
        ...[1, 11].map((ago) => failed(0, { at: now - ago * minute })),
        told({ type: 'integration.crashed', integration: 'kb', message: 'gone' }, now - minute / 2),
      );
      const gone = { at: now - minute / 2, kind: 'crash', error: 'gone' };
      expect((await (await read()).status(now)).integrations).toMatchObject([
        {
          ...{ failures10m: 2, failures24h: 3, crashes10m: 1, crashes24h: 1, lastError: gone },
          runtimes: [
            { pid: 7, failures10m: 1, failures24h: 1, crashes10m: 0, lastError: { kind: 'timeout' } },
            { pid: 8, failures10m: 1, failures24h: 2, crashes10m: 1, lastError: gone },
          ],
        },
      ]);
    });

    it('[O-1] [I-4] counts what says something of the integration, and shows other trouble as the last error alone', async () => {
      const { store, read } = await start();
      const { failure } = failed(0);
      const of = (integration: string, more: object, at: number) =>
        failed(0, { integration, at, failure: { ...failure, ...more } });
      await record(
        store,
        of('a', { kind: 'permanent', message: 'no such tool' }, now - 9),
        of('b', { kind: 'cancelled' }, now - 8),
        of('b', { kind: 'permanent', reason: 'denied' }, now - 8),
        of('b', { kind: 'permanent', reason: 'held' }, now - 8),
        of('b', { kind: 'circuit_open', attempts: 0 }, now - 8),
        of(
          'g',
          { kind: 'circuit_open', message: 'open', attempts: 1, cause: { kind: 'transient', message: 'down' } },
          now,
        ),
        of('i', { kind: 'circuit_open', attempts: 1, cause: { kind: 'permanent', message: 'no' } }, now),
        of('c', { alerts: false, message: 'nobody\'s \u0000 "fault"' }, now - 7),
        of('hook:h', {}, now - 6),
        told({ type: 'hook.failed', hook: 'h', event: 'e', action: 'a', error: 'threw' }, now - 5),
        told({ type: 'breaker.opened', integration: 'd', openForMs: 1, kind: 'timeout', cause: 'five timeouts' }, now),
        told({ type: 'breaker.opened', integration: 'e', openForMs: 1, kind: 'timeout' }, now),
        told({ type: 'integration.restart_failed', integration: 'f', message: 'no', attempt: 1 } as Fact, now),
      );
      const { integrations } = await (await read()).status(now);
      expect(integrations.map((each) => [each.integration, each.failures10m, each.crashes10m, each.lastError])).toEqual(
        [
          ['a', 0, 0, { at: now - 9, kind: 'permanent', error: 'no such tool' }],
          ['c', 0, 0, { at: now - 7, kind: 'timeout', error: 'nobody\'s \u0000 "fault"' }],
          ['d', 0, 0, { at: now, kind: 'timeout', error: 'five timeouts' }],
          ['f', 0, 1, { at: now, kind: 'crash', error: 'no' }],
          ['g', 1, 0, { at: now, kind: 'transient', error: 'down' }],
          ['hook:h', 1, 0, { at: now - 5, kind: undefined, error: 'threw' }],
          ['i', 0, 0, { at: now, kind: 'permanent', error: 'no' }],
        ],
      );
    });

    it('[M-8] shows the kept breakers, also of integrations that never failed', async () => {
      const { store, read } = await start();
      const breaker = {
        state: 'open',
        openedAt: now,
        openUntil: now + 1,
        lastOpenMs: 1,
        openings: 1,
        failures: 5,
        generation: 1,
      } as const;
      for (const name of ['search', 'kb']) store.breakers.save(name, breaker);
      await record(store, failed(0));
      const { integrations } = await (await read()).status(now);
      expect(integrations.map((row) => [row.integration, row.failures24h, row.breaker])).toEqual([
        ['kb', 1, breaker],
        ['search', 0, breaker],
      ]);
    });

    it('[O-1] shows when each session was seen last, and its turns that failed', async () => {
      const { store, read } = await start();
      const turn = { type: 'session.turn_failed', session: 'a', turn: 1, message: 'm', elapsedMs: 1 } as const;
      await record(
        store,
        failed(1, { session: 'a' }),
        failed(2, { session: 'b' }),
        told({ ...turn, kind: 'timeout', error: 'late' }, now + 3),
        told({ ...turn, kind: 'cancelled', error: 'stopped', reason: 'by_operator' } as Fact, now + 4),
        told({ type: 'hook.failed', hook: 'h', event: 'e', action: 'a', session: 'a', error: 'no' }, now + 5),
        failed(0, { session: 'old', at: now - 2 * day }),
      );
      expect((await (await read()).status(now + 6)).sessions).toEqual([
        {
          ...{ session: 'a', lastSeenAt: now + 5, failedTurns24h: 1 },
          lastError: { at: now + 3, kind: 'timeout', error: 'late' },
        },
        { session: 'b', lastSeenAt: now + 2, failedTurns24h: 0 },
      ]);
    });
  });

  it('[O-1] counts the calls of each session that failed, though its turns went well', async () => {
    const { store, read } = await start();
    const call = {
      type: 'session.tool_failed' as const,
      ...{ turn: 1, tool: 'search', integration: 'kb', retries: 0, synthetic: true },
      ...{ outcome: 'failed' as const, message: 'connection refused' },
    };
    await record(
      store,
      told({ ...call, session: 'a', call: 'c1', kind: 'transient' }, now + 1),
      told({ ...call, session: 'a', call: 'c2', kind: 'circuit_open', message: 'The circuit of kb is open' }, now + 2),
      told({ ...call, session: 'b', call: 'c3', kind: 'cancelled' }, now + 3),
      // A rule of the operator refused these: [P-11].
      told({ ...call, session: 'a', call: 'c4', kind: 'permanent', reason: 'denied' }, now + 1),
      told({ ...call, session: 'b', call: 'c5', kind: 'permanent', reason: 'held' }, now + 2),
      told({ ...call, session: 'b', call: 'c6', kind: 'cancelled', message: '"reason":"tool_error"' }, now + 2),
    );
    expect((await (await read()).status(now + 6)).sessions).toEqual([
      { session: 'b', lastSeenAt: now + 3, failedTurns24h: 0 },
      {
        ...{ session: 'a', lastSeenAt: now + 2, failedTurns24h: 0, failedCalls24h: 2 },
        lastError: { at: now + 2, kind: 'circuit_open', error: 'The circuit of kb is open' },
      },
    ]);
  });

  describe('alerts', () => {
    const alert = (id: string, integration: string): OpenAlert => ({
      ...{ id, integration, because: 'failures', kind: 'timeout', message: 'no answer', failures: 5, crashes: 0 },
      ...{ raisedAt: now - minute, lastFailureAt: now - minute },
    });

    it('[O-3] are shown open and cleared, and what would be one that nobody watched', async () => {
      const { store, read, settled } = await start();
      for (const name of ['kb', 'search']) await settled(store.alerts.raise(alert(name, name)));
      await settled(store.alerts.clear('search', 'closed', now, Infinity));
      const failures = [1, 2, 3, 4, 5].flatMap((call) =>
        ['kb', 'search', 'mail', 'alert:webhook'].map((integration) => failed(call, { integration, at: now - call })),
      );
      await record(store, ...failures, failed(6, { integration: 'few', at: now }));
      const { open, cleared, unwatched } = await (await read()).alerts(now);
      expect(open.map(({ id, failures: many }) => [id, many])).toEqual([['kb', 5]]);
      expect(cleared).toMatchObject([{ id: 'search', clearedAt: now, clearedBy: 'closed' }]);
      expect(unwatched.filter(({ integration }) => !integration.startsWith('alert'))).toEqual([
        {
          ...{ integration: 'mail', because: 'failures', failures: 5, crashes: 0, lastFailureAt: now - 1 },
          ...{ kind: 'timeout', message: 'no answer within 30 s' },
        },
      ]);
    });
  });

  it('[O-3] takes a note on an alert while a gateway has it open, without secrets', async () => {
    const { store, read } = await start();
    await record(store, failed(0, { at: now }));
    const reader = await read();
    const about = { integration: 'kb', alert: 'one', by: 'ana', why: 'key sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaa' };
    expect(await reader.recordNote({ type: 'operator.snoozed', ...about, until: now + minute }, now)).toMatchObject({
      ok: true,
    });
    const [event] = await (await read()).events({ category: 'operator', limit: 9 });
    expect(event).toMatchObject({ type: 'snoozed', at: now, metadata: { alert: 'one', until: now + minute } });
    expect(JSON.stringify(event)).not.toContain('aaaaaaaa');
  });

  describe('sessions', () => {
    async function claimed({ settled }: StartedReadable, store: Store, runtime: string): Promise<SessionLedger> {
      store.runtimes.enter({
        ...{ id: runtime, pid: process.pid, processStart: '', startedAt: now, renewedAt: now, name: 'test' },
        socket: undefined,
      });
      const claim = await settled(sessionsOf(store, { id: runtime, isAlive: () => true }).claim('s', limits));
      if (claim === undefined || claim.held) throw new Error('It is not free');
      return claim.ledger;
    }

    /** Message 1 processed with three calls, 2 a dead letter, 3 begun, 4 waiting. */
    async function startWithSession() {
      const started = await start();
      const { store, settled } = started;
      const ledger = await claimed(started, store, 'a');
      const post = (number: number, kind = 'user') =>
        ledger.post({ number, message: { kind, text: `secret ${number}` }, key: undefined, at: now + number });
      const call = { turn: 1, integration: 'kb', tool: 'find', input: 'secret', deadlineAt: now + 99 } as const;
      const open = (id: string, seq: number, rule?: 'ask') =>
        ledger.open({ call: id, ...call, effect: undefined, seq, at: now + 10 + seq, rule, idempotencyKey: undefined });
      const value = 'x'.repeat(100_000);
      const error = { status: 'error', error: 'no', retries: 0, recoverable: false } as const;
      const synthetic = { synthetic: true, kind: 'timeout', outcome: 'unknown', elapsedMs: 1, attempts: 3 } as const;
      await settled(
        Promise.all([
          ...[1, 2, 3].map((number) => post(number)),
          post(4, 'heartbeat'),
          ledger.take(1, 1, 1, now + 10),
          open('c1', 2),
          open('c2', 3),
          open('c3', 4, 'ask'),
          ledger.settle('c1', { status: 'ok', value, retries: 1 }, 5, now + 20),
          ledger.settle('c2', { ...error, ...synthetic, retryable: false }, 6, now + 21),
          ledger.settle('c2', { status: 'ok', value: 1, retries: 0 }, undefined, now + 22),
          ledger.finish(1, 'failed', now + 30, 'boom'),
          ledger.take(2, 2, 7, now + 31),
        ]),
      );
      // A runtime that died of message 2: the next one makes a dead letter of it.
      store.runtimes.leave('a');
      await store.flush();
      const next = await claimed(started, store, 'b');
      await settled(next.take(3, 3, 8, now + 40));
      return { ...started, reader: await started.read() };
    }

    it('[O-13] have what waits, what was begun, calls without a result and dead letters', async () => {
      const { reader } = await startWithSession();
      // An engine for several machines says who has it.
      expect({ ...(await reader.session('s')), owner: undefined }).toEqual({
        session: 's',
        messages: [
          { id: 's-m3', kind: 'user', state: 'taken', deliveries: 1, postedAt: now + 3 },
          { id: 's-m4', kind: 'heartbeat', state: 'waiting', deliveries: 0, postedAt: now + 4 },
        ],
        calls: [
          {
            ...{ call: 'c3', integration: 'kb', tool: 'find' },
            ...{ startedAt: now + 14, deadlineAt: now + 99, rule: 'ask' },
          },
        ],
        deadLetters: [{ id: 's-m2', reason: 'poison' }],
      });
      expect(await reader.sessionIds()).toEqual(['s']);
      expect(await reader.waitingSessions()).toEqual(['s']);
      expect(await reader.session('nobody')).toBeUndefined();
    });

    it('[O-13] have their turns with their calls, how they ended and when, without a word of what was said', async () => {
      const { reader } = await startWithSession();
      const turns = await reader.turns('s', 10);
      const of = { integration: 'kb', tool: 'find' };
      const calls = [
        { call: 'c1', ...of, startedAt: now + 12, settledAt: now + 20, ok: true, attempts: 2 },
        {
          ...{ call: 'c2', ...of, startedAt: now + 13, settledAt: now + 21, lateAt: now + 22 },
          ...{ ok: false, synthetic: true, attempts: 3 },
        },
        { call: 'c3', ...of, startedAt: now + 14 },
      ];
      expect(turns.map(({ turn, kind, state }) => [turn, kind, state])).toEqual([
        [3, 'user', 'taken'],
        [2, 'user', 'poison'],
        [1, 'user', 'failed'],
      ]);
      expect(turns[2]).toEqual({
        ...{ turn: 1, message: 's-m1', kind: 'user', state: 'failed', deliveries: 1, postedAt: now + 1 },
        ...{ takenAt: now + 10, endedAt: now + 30, error: 'boom', calls },
      });
      expect(JSON.stringify(turns)).not.toContain('secret');
      expect((await reader.turns('s', 1)).map(({ turn }) => turn)).toEqual([3]);
      expect(await reader.turns('nobody', 10)).toEqual([]);
    });

    it('[E-1] have each message as it was sent, and what became of it', async () => {
      const { reader } = await startWithSession();
      const said = (number: number) => ({ kind: 'user', text: `secret ${number}` });
      expect(await reader.message('s', 's-m1')).toEqual({
        ...{ id: 's-m1', message: said(1), state: 'failed', error: 'boom' },
        // The call that ended last counts, and of it the first result.
        result: {
          ...{ status: 'error', error: 'no', retries: 0, recoverable: false, retryable: false },
          ...{ synthetic: true, kind: 'timeout', outcome: 'unknown', elapsedMs: 1, attempts: 3 },
        },
      });
      expect(await reader.message('s', 's-m2')).toEqual({ id: 's-m2', message: said(2), state: 'poison' });
      expect(await reader.message('s', 's-m3')).toEqual({ id: 's-m3', message: said(3), state: 'taken' });
      expect(await reader.message('s', 's-m4')).toMatchObject({ id: 's-m4', state: 'waiting' });
      for (const id of ['s-m5', 's-x1', 'other-m1', '']) expect(await reader.message('s', id)).toBeUndefined();
      expect(await reader.message('nobody', 'nobody-m1')).toBeUndefined();
    });

    it('[E-1] have their history, the latest whole turns', async () => {
      const { reader } = await startWithSession();
      const history = await reader.history('s', 100);
      expect(history.map(({ type, turn }) => `${type} ${turn}`)).toEqual([
        ...['message 1', 'tool_call 1', 'tool_call 1', 'tool_result 1', 'tool_result 1'],
        ...['message 2', 'message 3'],
      ]);
      expect(history[0]).toEqual({
        ...{ type: 'message', turn: 1, id: 's-m1', at: now + 10, message: { kind: 'user', text: 'secret 1' } },
      });
      expect((await reader.history('s', 2)).map(({ turn }) => turn)).toEqual([2, 3]);
      expect(await reader.history('nobody', 1)).toEqual([]);
      await expect(reader.history('s', 0)).rejects.toThrow('Expected `limit`');
    });

    it('[G-14] have their dead letters, of one session or of all', async () => {
      const { reader } = await startWithSession();
      const letter = {
        ...{ id: 's-m2', session: 's', kind: 'user', reason: 'poison', deliveries: 1, postedAt: now + 2 },
        ...{ endedAt: now, text: 'secret 2', again: [], canSend: true },
      };
      expect([await reader.deadLetters(), await reader.deadLetters('s')]).toEqual([[letter], [letter]]);
      expect(await reader.deadLetters('other')).toEqual([]);
    });

    it('[O-1] have runtimes that are entered', async () => {
      const { reader } = await startWithSession();
      expect(await reader.runtimes()).toMatchObject([{ id: 'b', pid: process.pid, name: 'test', startedAt: now }]);
    });
  });

  describe('figures and attempts', () => {
    it('[O-7] [O-16] are read as they were written', async () => {
      const { store, read } = await start();
      const figures = {
        ...{ succeeded: 1, fellBack: 0, refused: 0, retries: 0, restarts: 0, failed: {} },
        ...{ took: [1], firstChunk: [] },
      };
      const row = { integration: 'kb', minute: now, ...figures };
      store.statistics.add([
        { ...row, tool: undefined },
        { ...row, tool: 'find' },
        { ...row, tool: undefined, minute: now - minute },
      ]);
      const flight = { integration: 'kb', run: 'one', pid: 7, at: 1000, because: 'failure' } as const;
      store.flights.add({ ...flight, rows: [], limits: [], retries: [], missed: 0 }, []);
      await store.flush();
      const reader = await read();
      expect((await reader.statistics(now)).map(({ tool }) => tool)).toEqual([undefined, 'find']);
      expect((await reader.statistics(0, 'whole')).map(({ minute: at }) => at)).toEqual([now - minute, now]);
      expect((await reader.totals()).map(({ tool, succeeded }) => [tool, succeeded])).toEqual([
        [undefined, 2],
        ['find', 1],
      ]);
      expect((await reader.flights({ integration: 'kb' })).map(({ run }) => run)).toEqual(['one']);
      expect([await reader.flights({ since: 1001 }), await reader.policies()]).toEqual([[], []]);
    });
  });

  describe('events', () => {
    it('[O-1] are read from the newest back, and on from the last', async () => {
      const { store, read } = await start();
      const reader = await read();
      expect([await reader.firstEventId(), await reader.lastEventId()]).toEqual([0, 0]);
      await record(store, failed(1), failed(2), failed(3));
      expect([await reader.firstEventId(), await reader.lastEventId()]).toEqual([1, 3]);
      expect((await reader.events({ limit: 2 })).map(({ id }) => id)).toEqual([2, 3]);
      await record(store, failed(4));
      expect((await reader.events({ limit: 9, after: 3 })).map(({ at }) => at)).toEqual([now + 4]);
      await expect(reader.events({ limit: 0 })).rejects.toThrow('Expected `limit`');
      await expect(reader.status(Number.NaN)).rejects.toThrow('Expected `now`');
    });
  });
}
