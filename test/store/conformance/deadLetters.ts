import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import type { Recovered } from '../../../src/sessions/sessionStore.ts';
import { type Engine, settled } from './engine.ts';
import { call, calls, message, now, own, start } from './owned.ts';

/** What any engine has to do with messages that are not delivered any more. */
export function keepsDeadLetters(engineOf: Engine): void {
  describe('dead letters', () => {
    it('[G-14] makes a dead letter of a message that ended its runtime three times', async () => {
      const engine = await start(engineOf);
      const deliveries: (number | undefined)[] = [];
      for (const id of ['a', 'b', 'c']) {
        const { ledger, recovered } = await own(engine, engine.runtime(id));
        if (id === 'a') await settled(engine, ledger.post(message(1)));
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

    it('[G-11] makes a dead letter of what is too old, and not of what is just young enough', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await settled(engine, ledger.post({ ...message(2), at: now - 1000 }));
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.deadLetters).toEqual([{ number: 1, reason: 'expired' }]);
      expect(recovered.waiting).toMatchObject([{ number: 2 }]);
    });

    it('[G-11] makes a dead letter of a message that cannot be read, and delivers the others', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post(message(1)));
      await settled(engine, ledger.post(message(2)));
      await engine.kill('a');
      await engine.damage('s', 1);
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.deadLetters).toEqual([{ number: 1, reason: 'malformed' }]);
      expect(recovered.waiting).toMatchObject([{ number: 2 }]);
    });

    it('[G-14] records what it tells of a recovery with the recovery, in one commit', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await settled(engine, ledger.open(call('c-1', 1)));
      await engine.kill('a');
      const letter = ({ deadLetters: [first] }: Recovered): readonly Fact[] => [
        { type: 'session.dead_letter', session: 's', message: `s-m${first?.number}`, reason: 'expired' },
      ];
      // No fact is told here: what is recorded came with the claim.
      const other = engine.runtime('b');
      await settled(engine, other.recoverCalls(calls));
      expect(await engine.recorded()).toEqual(['held']);
      await own(engine, other, { facts: letter });
      expect(await engine.recorded()).toEqual(['held', 'dead_letter']);
    });

    it('[O-13] keeps the new message of a dead letter, the end of the letter and the record in one commit, once', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await engine.kill('a');
      const { ledger: second } = await own(engine, engine.runtime('b'));
      const fact: Fact = { type: 'operator.sent_again', session: 's', message: 's-m1', as: 's-m2' };
      const resend = {
        ...message(2),
        key: 'sent again: 1',
        letter: 1,
        message: { kind: 'user', text: 'text 1' },
        fact,
      };
      const both = Promise.all([second.resend(resend), second.resend({ ...resend, number: 3 })]);
      expect(await settled(engine, both)).toEqual(['durable', 'volatile']);
      await engine.kill('b');
      expect(await engine.recorded()).toEqual(['sent_again']);
      const { ledger: third, recovered } = await own(engine, engine.runtime('c'));
      expect(recovered).toMatchObject({
        waiting: [{ number: 2, key: 'sent again: 1', message: { kind: 'user', text: 'text 1' }, deliveries: 0 }],
        deadLetters: [],
      });
      expect(await settled(engine, third.deadLetter({ number: 1 }))).toBeUndefined();
    });

    it('[O-13] records that a dead letter was dropped in the commit that drops it', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post({ ...message(1), at: now - 1001 }));
      await engine.kill('a');
      const { ledger: second } = await own(engine, engine.runtime('b'));
      const fact: Fact = { type: 'operator.dropped', session: 's', message: 's-m1' };
      expect(await settled(engine, second.bury(1, now, 'dropped', fact))).toBe('durable');
      expect(await settled(engine, second.bury(1, now, 'dropped', fact))).toBe('volatile');
      expect(await engine.recorded()).toEqual(['dropped']);
    });
  });
}
