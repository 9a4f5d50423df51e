import { describe, expect, it } from 'vitest';
import type {
  Claim,
  LostCall,
  Past,
  Recovered,
  RecoveryLimits,
  SessionLedger,
  SessionStore,
  StoredCall,
} from '../../../src/sessions/sessionStore.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Fact } from '../../../src/policy/facts.ts';
import type { Engine, StartedEngine } from './engine.ts';

const now = Date.UTC(2026, 0, 1);
const lost: ToolResult = { status: 'error', error: 'lost', retries: 0, recoverable: false };
const factOf = (call: LostCall): Fact => ({ type: 'session.held', session: call.session, by: call.call });
const limits = (more: Partial<RecoveryLimits> = {}): RecoveryLimits => ({
  maxDeliveries: 3,
  maxAgeMs: 1000,
  wallNow: now,
  answer: () => lost,
  facts: () => [],
  ...more,
});
const calls = { ...limits(), fact: factOf };
const message = (number: number, key?: string) => ({
  number,
  message: { kind: 'user', text: `text ${number}` },
  key,
  at: now,
});
const call = (id: string, seq: number, turn = 1): StoredCall => ({
  call: id,
  turn,
  integration: 'kb',
  tool: 'query',
  input: { q: id },
  effect: 'readOnly',
  seq,
  at: now,
  deadlineAt: now + 300_000,
});

/** An engine with as many runtimes on it as a test needs. */
interface Runtimes extends Pick<StartedEngine, 'settle' | 'deliveries' | 'damage'> {
  /** A runtime that is entered and alive. */
  runtime(id: string): SessionStore;
  /** Ends a runtime as `kill -9` would: what it has committed stays. */
  kill(id: string): Promise<void>;
  /** What is told in facts and committed: the type of each. */
  recorded(): Promise<readonly string[]>;
}

/** What any engine has to do with sessions. */
export function keepsSessions(engineOf: Engine): void {
  async function start(): Promise<Runtimes> {
    const { one, two, ...started } = await engineOf.start();
    const dead = new Set<string>();
    let runtimes = 0;
    return {
      ...started,
      runtime(id) {
        // By turns through one store and the other.
        const store = runtimes++ % 2 === 0 ? one : two;
        const about = { pid: 1, processStart: '', startedAt: now, renewedAt: now, name: id, socket: undefined };
        store.runtimes.enter({ id, ...about });
        return store.sessions({ id, isAlive: (run) => !dead.has(run.id) });
      },
      async kill(id) {
        dead.add(id);
        await started.outlive(id);
      },
      recorded: async () => (await one.read({ limit: 100 })).map(({ type }) => type),
    };
  }

  describe('sessions', () => {
    /** Waits for the engine as well. */
    const after = async <T>(engine: Runtimes, promise: Promise<T>): Promise<T> => {
      await engine.settle();
      return promise;
    };
    const claim = async (engine: Runtimes, store: SessionStore, more?: Partial<RecoveryLimits>): Promise<Claim> => {
      const claimed = await after(engine, store.claim('s', limits(more)));
      if (claimed === undefined) throw new Error('the engine is out of order');
      return claimed;
    };
    const own = async (
      engine: Runtimes,
      store: SessionStore,
      more?: Partial<RecoveryLimits>,
      historyLimit = 100,
    ): Promise<{ ledger: SessionLedger; recovered: Recovered & Past }> => {
      const claimed = await claim(engine, store, { historyLimit, ...more });
      if (claimed.held) throw new Error(`held by ${claimed.by}`);
      const past = claimed.past(historyLimit);
      if (past === undefined) throw new Error('the engine cannot be read');
      return { ledger: claimed.ledger, recovered: { ...claimed.recovered, ...past } };
    };

    it('[I-5] [G-11] gives back what was accepted and not processed, in order', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      expect(await after(engine, ledger.post(message(1)))).toBe('durable');
      expect(await after(engine, ledger.post(message(2, 'key-2')))).toBe('durable');
      expect(await after(engine, ledger.post(message(3)))).toBe('durable');
      void ledger.take(1, 1, 1, now);
      expect(await after(engine, ledger.finish(1, 'done', now))).toBe('durable');
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.waiting).toEqual([
        { ...message(2, 'key-2'), deliveries: 0 },
        { ...message(3), deliveries: 0 },
      ]);
      expect(recovered).toMatchObject({ keys: [['key-2', 2]], lastMessage: 3, lastTurn: 1, lastSeq: 1 });
    });

    it('[G-11] leaves the session of a runtime that lives alone', async () => {
      const engine = await start();
      await own(engine, engine.runtime('a'));
      expect(await claim(engine, engine.runtime('b'))).toEqual({ held: true, by: 'a' });
    });

    it('[G-11] gives a session that was released to who asks next', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.release());
      expect(await claim(engine, engine.runtime('b'))).toMatchObject({ held: false });
    });

    it('[N-4] [G-11] names the sessions that have something to do and that nobody has, and no other', async () => {
      const engine = await start();
      const [a, b] = [engine.runtime('a'), engine.runtime('b')];
      const made = async (store: SessionStore, id: string): Promise<SessionLedger> => {
        const claimed = await after(engine, store.claim(id, limits()));
        if (claimed === undefined || claimed.held) throw new Error(`${id} is held`);
        return claimed.ledger;
      };
      const unowned = async (most = 10) => (await after(engine, b.unowned(most))).toSorted();
      const [waits, called, over, mine] = [
        await made(a, 'waits'),
        await made(a, 'called'),
        await made(a, 'over'),
        await made(b, 'mine'),
      ];
      await after(engine, waits.post(message(1)));
      await after(engine, called.open(call('c-1', 1)));
      for (const ledger of [over, mine]) await after(engine, ledger.post(message(1)));
      await after(engine, over.finish(1, 'done', now));
      expect(await unowned()).toEqual([]);
      await engine.kill('a');
      expect(await unowned()).toEqual(['called', 'waits']);
      expect(await unowned(1)).toHaveLength(1);
      await made(b, 'waits');
      expect(await unowned()).toEqual(['called']);
      await after(engine, mine.release());
      expect(await unowned()).toEqual(['called', 'mine']);
    });

    it('[M-11] [G-11] writes nothing for a runtime whose session was taken over', async () => {
      const engine = await start();
      const { ledger: old } = await own(engine, engine.runtime('a'));
      await after(engine, old.post(message(1)));
      await after(engine, old.open(call('c-1', 1)));
      await engine.kill('a');
      const { ledger } = await own(engine, engine.runtime('b'));
      await after(engine, ledger.post(message(2)));
      const writes = [
        old.post(message(3)),
        old.finish(1, 'done', now),
        old.putBack(1, true),
        old.open(call('c-2', 3)),
        old.settle('c-1', { status: 'ok', value: 'too late', retries: 0 }, 4, now),
      ];
      void old.take(2, 9, 9, now);
      old.forget(99);
      expect(await after(engine, Promise.all(writes))).toEqual(Array(5).fill('fenced'));
      await engine.kill('b');
      const { recovered } = await own(engine, engine.runtime('c'));
      expect(recovered.waiting.map(({ number, deliveries }) => [number, deliveries])).toEqual([
        [1, 0],
        [2, 0],
      ]);
      expect(recovered.history).toHaveLength(2);
      expect(recovered.lastTurn).toBe(1);
    });

    it('[R-16] leaves calls with a rule to the owner who can ask it, with their whole input and their key', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      const input = { token: 'sk-0123456789abcdef0123456789', text: 'x'.repeat(10_000) };
      await after(engine, ledger.open({ ...call('c-1', 1), input, rule: 'key', idempotencyKey: 'k-1' }));
      await after(engine, ledger.open({ ...call('c-2', 2), rule: 'ask' }));
      await after(engine, ledger.open(call('c-3', 3)));
      expect(await after(engine, ledger.reconciling('c-2', now))).toBe('durable');
      await engine.kill('a');
      const second = engine.runtime('b');
      const answered = await after(engine, second.recoverCalls(calls));
      expect(answered.map((one) => one.call)).toEqual(['c-3']);
      const claimed = await own(engine, second, { keeps: ({ rule }) => rule === 'key' });
      expect(claimed.recovered.open).toMatchObject([{ call: 'c-1', input, rule: 'key', idempotencyKey: 'k-1' }]);
      expect(claimed.recovered.lost).toMatchObject([{ call: 'c-2' }]);
      const found = { verdict: 'done', how: 'listed', late: false } as const;
      expect(await after(engine, claimed.ledger.reconciled('c-1', found, now))).toBe('durable');
      await after(engine, claimed.ledger.settle('c-1', { status: 'ok', value: 1, retries: 0 }, undefined, now));
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

    it('[I-1] [G-11] answers the pending calls of a dead runtime, once', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.open(call('c-1', 1)));
      await after(engine, ledger.open(call('c-2', 2)));
      await after(engine, ledger.settle('c-1', { status: 'ok', value: 1, retries: 0 }, 3, now));
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
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.open(call('c-1', 1)));
      const other = engine.runtime('b');
      expect(await after(engine, other.recoverCalls(calls))).toEqual([]);
      await engine.kill('a');
      expect(await after(engine, other.recoverCalls(calls))).toMatchObject([{ call: 'c-1' }]);
      expect(await after(engine, other.recoverCalls(calls))).toEqual([]);
    });

    it('[G-14] records what it tells of a recovery with the recovery, in one commit', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await after(engine, ledger.open(call('c-1', 1)));
      await engine.kill('a');
      const letter = ({ deadLetters: [first] }: Recovered): readonly Fact[] => [
        { type: 'session.dead_letter', session: 's', message: `s-m${first?.number}`, reason: 'expired' },
      ];
      // No fact is told here: what is recorded came with the claim.
      const other = engine.runtime('b');
      await after(engine, other.recoverCalls(calls));
      expect(await engine.recorded()).toEqual(['held']);
      await own(engine, other, { facts: letter });
      expect(await engine.recorded()).toEqual(['held', 'dead_letter']);
    });

    it.runIf(engineOf.isInProcess)(
      '[G-14] counts one delivery in a commit: no other one while a handler may end the process',
      async () => {
        const engine = await start();
        const store = engine.runtime('a');
        const ledgers: SessionLedger[] = [];
        for (const session of ['s', 't', 'u']) {
          const claimed = await after(engine, store.claim(session, limits()));
          if (claimed === undefined || claimed.held) throw new Error('not claimed');
          await after(engine, claimed.ledger.post(message(1)));
          ledgers.push(claimed.ledger);
        }
        const counted: (readonly number[])[] = [];
        await after(
          engine,
          Promise.all(
            ledgers.map((ledger) =>
              ledger.take(1, 1, 1, now).then(async () => counted.push(await engine.deliveries())),
            ),
          ),
        );
        expect(counted).toEqual([
          [1, 0, 0],
          [1, 1, 0],
          [1, 1, 1],
        ]);
      },
    );

    it('[I-1] keeps the first result of a call; a later one stays beside it', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.open(call('c-1', 1)));
      await after(engine, ledger.settle('c-1', lost, 2, now));
      expect(await after(engine, ledger.settle('c-1', { status: 'ok', value: 1, retries: 0 }, 3, now))).toBe('durable');
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.history.at(-1)).toMatchObject({ type: 'tool_result', result: lost });
    });

    it('[G-14] makes a dead letter of a message that ended its runtime three times', async () => {
      const engine = await start();
      const deliveries: (number | undefined)[] = [];
      for (const id of ['a', 'b', 'c']) {
        const { ledger, recovered } = await own(engine, engine.runtime(id));
        if (id === 'a') await after(engine, ledger.post(message(1)));
        deliveries.push(recovered.waiting[0]?.deliveries);
        void ledger.take(1, 1, 1, now);
        await engine.settle();
        await engine.kill(id);
      }
      expect(deliveries).toEqual([undefined, 1, 2]);
      const { recovered } = await own(engine, engine.runtime('d'));
      expect(recovered).toMatchObject({ waiting: [], deadLetters: [{ number: 1, reason: 'poison' }] });
      await engine.kill('d');
      expect((await own(engine, engine.runtime('e'))).recovered.deadLetters).toEqual([]);
    });

    it('[O-13] keeps the new message of a dead letter, the end of the letter and the record in one commit, once', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await engine.kill('a');
      const { ledger: second } = await own(engine, engine.runtime('b'));
      const fact: Fact = { type: 'operator.sent_again', session: 's', message: 's-m1', as: 's-m2' };
      const resend = { ...message(2), letter: 1, message: { kind: 'user', text: 'text 1' }, fact };
      const both = Promise.all([second.resend(resend), second.resend({ ...resend, number: 3 })]);
      expect(await after(engine, both)).toEqual(['durable', 'volatile']);
      await engine.kill('b');
      expect(await engine.recorded()).toEqual(['sent_again']);
      const { ledger: third, recovered } = await own(engine, engine.runtime('c'));
      expect(recovered).toMatchObject({
        waiting: [{ number: 2, key: 'sent again: 1', message: { kind: 'user', text: 'text 1' }, deliveries: 0 }],
        deadLetters: [],
      });
      expect(await after(engine, third.deadLetter({ number: 1 }))).toBeUndefined();
    });

    it('[O-13] records that a dead letter was dropped in the commit that drops it', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await engine.kill('a');
      const { ledger: second } = await own(engine, engine.runtime('b'));
      const fact: Fact = { type: 'operator.dropped', session: 's', message: 's-m1' };
      expect(await after(engine, second.bury(1, now, 'dropped', fact))).toBe('durable');
      expect(await after(engine, second.bury(1, now, 'dropped', fact))).toBe('volatile');
      expect(await engine.recorded()).toEqual(['dropped']);
    });

    it('[G-14] [G-11] counts the deliveries that an orderly stop cut, but not against the message', async () => {
      const engine = await start();
      const deliveries: (number | undefined)[] = [];
      for (const id of ['a', 'b', 'c', 'd']) {
        const { ledger, recovered } = await own(engine, engine.runtime(id));
        if (id === 'a') await after(engine, ledger.post(message(1)));
        deliveries.push(recovered.waiting[0]?.deliveries);
        void ledger.take(1, 1, 1, now);
        await after(engine, ledger.putBack(1, true));
        await after(engine, ledger.release());
      }
      expect(deliveries).toEqual([undefined, 1, 2, 3]);
      for (const id of ['e', 'f', 'g']) {
        const { ledger, recovered } = await own(engine, engine.runtime(id));
        deliveries.push(recovered.waiting[0]?.deliveries);
        void ledger.take(1, 1, 1, now);
        await engine.settle();
        await engine.kill(id);
      }
      expect(deliveries.slice(4)).toEqual([4, 5, 6]);
      expect((await own(engine, engine.runtime('h'))).recovered.deadLetters).toEqual([{ number: 1, reason: 'poison' }]);
    });

    it('[I-5] counts no delivery whose turn had not begun', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post(message(1)));
      void ledger.take(1, 1, 1, now);
      expect(await after(engine, ledger.putBack(1, false))).toBe('durable');
      await engine.kill('a');
      expect((await own(engine, engine.runtime('b'))).recovered.waiting).toMatchObject([{ number: 1, deliveries: 0 }]);
    });

    it('[G-11] makes a dead letter of what is too old, and not of what is just young enough', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await after(engine, ledger.post({ ...message(2), at: now - 1000 }));
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.deadLetters).toEqual([{ number: 1, reason: 'expired' }]);
      expect(recovered.waiting).toMatchObject([{ number: 2 }]);
    });

    it('[G-11] makes a dead letter of a message that cannot be read, and delivers the others', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post(message(1)));
      await after(engine, ledger.post(message(2)));
      await engine.kill('a');
      await engine.damage('s', 1);
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.deadLetters).toEqual([{ number: 1, reason: 'malformed' }]);
      expect(recovered.waiting).toMatchObject([{ number: 2 }]);
    });

    it('[G-12] reads back whole turns of the history, the latest', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      for (const turn of [1, 2, 3]) {
        await after(engine, ledger.post(message(turn)));
        void ledger.take(turn, turn, turn * 10, now);
        await after(engine, ledger.open(call(`c-${turn}`, turn * 10 + 1, turn)));
        await after(engine, ledger.settle(`c-${turn}`, lost, turn * 10 + 2, now));
        await after(engine, ledger.finish(turn, 'done', now));
      }
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'), {}, 7);
      expect(recovered.history.map(({ type, turn }) => [type, turn])).toEqual(
        [2, 3].flatMap((turn) => [
          ['message', turn],
          ['tool_call', turn],
          ['tool_result', turn],
        ]),
      );
    });

    it('[M-11] takes a second late result, and one of a call it has forgotten, for no loss of the session', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.open(call('c-1', 1)));
      expect(await after(engine, ledger.settle('c-1', lost, 2, now))).toBe('durable');
      expect(await after(engine, ledger.settle('c-1', lost, 0, now))).toBe('durable');
      expect(await after(engine, ledger.settle('c-1', lost, 0, now))).toBe('volatile');
      ledger.forget(5);
      expect(await after(engine, ledger.settle('c-1', lost, 0, now))).toBe('volatile');
      expect(await after(engine, ledger.finish(9, 'done', now))).toBe('volatile');
    });

    it('[G-14] counts a delivery when it says so', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post(message(1)));
      expect(await after(engine, ledger.take(1, 1, 1, now))).toBe('durable');
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.waiting).toMatchObject([{ number: 1, deliveries: 1 }]);
    });

    it('[G-9] remembers the key of a message whose turn it has forgotten, and forgets the rest of it', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      for (const [number, end] of [
        [1, 'done'],
        [2, 'dropped'],
        [3, 'failed'],
      ] as const) {
        await after(engine, ledger.post(message(number, `key-${number}`)));
        if (end !== 'dropped') await after(engine, ledger.take(number, number, number, now));
        await after(engine, ledger.finish(number, end, now));
      }
      ledger.forget(3);
      await engine.settle();
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.keys).toEqual([
        ['key-1', 1],
        ['key-2', 2],
        ['key-3', 3],
      ]);
      expect(recovered.history).toMatchObject([{ id: 's-m3' }]);
    });

    it('[G-12] forgets turns that are over, and no call or message that is not', async () => {
      const engine = await start();
      const { ledger } = await own(engine, engine.runtime('a'));
      await after(engine, ledger.post(message(1)));
      void ledger.take(1, 1, 1, now);
      await after(engine, ledger.open(call('c-1', 2)));
      ledger.forget(5);
      await engine.settle();
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.waiting).toHaveLength(1);
      expect(recovered.lost).toHaveLength(1);
    });
  });
}
