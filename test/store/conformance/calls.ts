import { describe, expect, it } from 'vitest';
import type { LostCall } from '../../../src/sessions/sessionStore.ts';
import { type Engine, settled } from './engine.ts';
import { call, calls, limits, lost, message, now, own, start } from './owned.ts';

/** What any engine has to do with the calls of a session. */
export function keepsCalls(engineOf: Engine): void {
  describe('calls of sessions', () => {
    it('[I-1] [G-11] answers the pending calls of a dead runtime, once', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.open(call('c-1', 1)));
      await settled(engine, ledger.open(call('c-2', 2)));
      await settled(engine, ledger.settle('c-1', { status: 'ok', value: 1, retries: 0 }, 3, now));
      await engine.kill('a');
      const asked: LostCall[] = [];
      const { recovered } = await own(engine, engine.runtime('b'), {
        answer: (one) => {
          asked.push(one);
          return lost;
        },
      });
      const expected = {
        session: 's',
        call: 'c-2',
        turn: 1,
        integration: 'kb',
        tool: 'query',
        effect: 'readOnly',
        startedAt: now,
        input: { q: 'c-2' },
        rule: undefined,
        idempotencyKey: undefined,
      };
      expect(asked).toEqual([expected]);
      expect(recovered.lost).toEqual([expected]);
      expect(recovered.history.map((entry) => [entry.type, 'call' in entry ? entry.call : ''])).toEqual([
        ['tool_call', 'c-1'],
        ['tool_call', 'c-2'],
        ['tool_result', 'c-1'],
        ['tool_result', 'c-2'],
      ]);
      expect(recovered.history.at(-1)).toMatchObject({ result: lost });
    });

    it('[G-11] answers lost calls of sessions that nobody claims, and none of a runtime that lives', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.open(call('c-1', 1)));
      const other = engine.runtime('b');
      expect(await settled(engine, other.recoverCalls(calls))).toEqual([]);
      await engine.kill('a');
      expect(await settled(engine, other.recoverCalls(calls))).toMatchObject([{ call: 'c-1' }]);
      expect(await settled(engine, other.recoverCalls(calls))).toEqual([]);
    });

    it('[G-11] [G-12] answers lost calls behind all that there is of their session, each in a place of its own', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      void ledger.post(message(1));
      void ledger.take(1, 1, 1, now);
      void ledger.open(call('c-1', 2));
      await settled(engine, ledger.open(call('c-2', 3)));
      void ledger.post(message(2));
      await settled(engine, ledger.take(2, 2, 9, now));
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.history.map((entry) => [entry.type, 'call' in entry ? entry.call : entry.turn])).toEqual([
        ['message', 1],
        ['tool_call', 'c-1'],
        ['tool_call', 'c-2'],
        ['message', 2],
        ['tool_result', 'c-1'],
        ['tool_result', 'c-2'],
      ]);
      expect(recovered).toMatchObject({ lastMessage: 2, lastTurn: 2, lastSeq: 11 });
    });

    it('[G-11] answers lost calls of several sessions at once, and tells of each', async () => {
      const engine = await start(engineOf);
      const dead = engine.runtime('a');
      for (const session of ['s', 't']) {
        const claimed = await settled(engine, dead.claim(session, limits()));
        if (claimed?.held !== false) throw new Error('it is held');
        for (const seq of [1, 2]) await settled(engine, claimed.ledger.open(call(`${session}-${seq}`, seq)));
      }
      const other = engine.runtime('b');
      await engine.kill('a');
      const found = await settled(engine, other.recoverCalls(calls));
      expect(found.map((each) => [each.session, each.call]).sort((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual([
        ['s', 's-1'],
        ['s', 's-2'],
        ['t', 't-1'],
        ['t', 't-2'],
      ]);
      expect(await engine.recorded()).toEqual(['held', 'held', 'held', 'held']);
    });

    it('[N-2] [M-11] [I-1] takes no second result of an owner that only stood still while its call was answered', async () => {
      const engine = await start(engineOf);
      const { ledger: old } = await own(engine, engine.runtime('a'));
      await settled(engine, old.open(call('c-1', 1)));
      await engine.kill('a');
      const other = engine.runtime('b');
      expect(await settled(engine, other.recoverCalls(calls))).toMatchObject([{ call: 'c-1' }]);
      const result = { status: 'ok', value: 'too late', retries: 0 } as const;
      expect(await settled(engine, old.settle('c-1', result, 2, now))).toBe('fenced');
      expect(await settled(engine, old.post(message(1)))).toBe('fenced');
      const { recovered } = await own(engine, other);
      expect(recovered.waiting).toEqual([]);
      expect(recovered.history.at(-1)).toMatchObject({ type: 'tool_result', result: lost });
    });

    it('[R-16] leaves calls with a rule to the owner who can ask it, with their whole input and their key', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      const input = { token: 'sk-0123456789abcdef0123456789', text: 'x'.repeat(10_000) };
      await settled(engine, ledger.open({ ...call('c-1', 1), input, rule: 'key', idempotencyKey: 'k-1' }));
      await settled(engine, ledger.open({ ...call('c-2', 2), rule: 'ask' }));
      await settled(engine, ledger.open(call('c-3', 3)));
      expect(await settled(engine, ledger.reconciling('c-2', now))).toBe('durable');
      await engine.kill('a');
      const second = engine.runtime('b');
      const answered = await settled(engine, second.recoverCalls(calls));
      expect(answered.map((one) => one.call)).toEqual(['c-3']);
      const claimed = await own(engine, second, { keeps: ({ rule }) => rule === 'key' });
      expect(claimed.recovered.open).toMatchObject([{ call: 'c-1', input, rule: 'key', idempotencyKey: 'k-1' }]);
      expect(claimed.recovered.lost).toMatchObject([{ call: 'c-2' }]);
      const found = { verdict: 'done', how: 'listed', late: false } as const;
      expect(await settled(engine, claimed.ledger.reconciled('c-1', found, now))).toBe('durable');
      await settled(engine, claimed.ledger.settle('c-1', { status: 'ok', value: 1, retries: 0 }, undefined, now));
      const later = await own(engine, second);
      expect(later.recovered.open).toEqual([]);
      expect(later.recovered.history.map((entry) => [entry.type, 'call' in entry ? entry.call : ''])).toEqual([
        ['tool_call', 'c-1'],
        ['tool_call', 'c-2'],
        ['tool_call', 'c-3'],
        ['tool_result', 'c-3'],
        ['tool_result', 'c-2'],
        ['tool_result', 'c-1'],
      ]);
    });

    it('[I-1] keeps the first result of a call; a later one stays beside it', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.open(call('c-1', 1)));
      await settled(engine, ledger.settle('c-1', lost, 2, now));
      expect(await settled(engine, ledger.settle('c-1', { status: 'ok', value: 1, retries: 0 }, 3, now))).toBe(
        'durable',
      );
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.history.at(-1)).toMatchObject({ type: 'tool_result', result: lost });
    });

    it('[M-11] takes a second late result, and one of a call it has forgotten, for no loss of the session', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.open(call('c-1', 1)));
      expect(await settled(engine, ledger.settle('c-1', lost, 2, now))).toBe('durable');
      expect(await settled(engine, ledger.settle('c-1', lost, 0, now))).toBe('durable');
      expect(await settled(engine, ledger.settle('c-1', lost, 0, now))).toBe('volatile');
      ledger.forget(5);
      expect(await settled(engine, ledger.settle('c-1', lost, 0, now))).toBe('volatile');
      expect(await settled(engine, ledger.finish(9, 'done', now))).toBe('volatile');
    });
  });
}
