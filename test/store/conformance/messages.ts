import { describe, expect, it } from 'vitest';
import type { SessionLedger } from '../../../src/sessions/sessionStore.ts';
import { type Engine, settled } from './engine.ts';
import { limits, message, now, own, start } from './owned.ts';

/** What any engine has to do with the messages of a session and their deliveries. */
export function keepsMessages(engineOf: Engine): void {
  describe('messages of sessions', () => {
    it('[I-5] [G-11] gives back what was accepted and not processed, in order', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      expect(await settled(engine, ledger.post(message(1)))).toBe('durable');
      expect(await settled(engine, ledger.post(message(2, 'key-2')))).toBe('durable');
      expect(await settled(engine, ledger.post(message(3)))).toBe('durable');
      void ledger.take(1, 1, 1, now);
      expect(await settled(engine, ledger.finish(1, 'done', now))).toBe('durable');
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.waiting).toEqual([
        { ...message(2, 'key-2'), deliveries: 0 },
        { ...message(3), deliveries: 0 },
      ]);
      expect(recovered).toMatchObject({ keys: [['key-2', 2]], lastMessage: 3, lastTurn: 1, lastSeq: 1 });
    });

    it('[I-5] gives back texts as they were, whatever they hold', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      const odd = 'a\0b \uD800 \uDC00 \uFFFE \u2028 \\u0000 😀 é';
      const message = { kind: odd, text: odd, data: { [odd]: [odd, null, 'NULL', '{}'] } };
      expect(await settled(engine, ledger.post({ number: 1, message, key: undefined, at: now }))).toBe('durable');
      await engine.kill('a');
      expect((await own(engine, engine.runtime('b'))).recovered.waiting).toEqual([
        { number: 1, message, key: undefined, at: now, deliveries: 0 },
      ]);
    });

    it.runIf(engineOf.isInProcess)(
      '[G-14] counts one delivery in a commit: no other one while a handler may end the process',
      async () => {
        const engine = await start(engineOf);
        const store = engine.runtime('a');
        const ledgers: SessionLedger[] = [];
        for (const session of ['s', 't', 'u']) {
          const claimed = await settled(engine, store.claim(session, limits()));
          if (claimed === undefined || claimed.held) throw new Error('not claimed');
          await settled(engine, claimed.ledger.post(message(1)));
          ledgers.push(claimed.ledger);
        }
        const counted: (readonly number[])[] = [];
        await settled(
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

    it('[G-14] counts a delivery when it says so', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post(message(1)));
      expect(await settled(engine, ledger.take(1, 1, 1, now))).toBe('durable');
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.waiting).toMatchObject([{ number: 1, deliveries: 1 }]);
    });

    it('[I-5] counts no delivery whose turn had not begun', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post(message(1)));
      void ledger.take(1, 1, 1, now);
      expect(await settled(engine, ledger.putBack(1, false))).toBe('durable');
      await engine.kill('a');
      expect((await own(engine, engine.runtime('b'))).recovered.waiting).toMatchObject([{ number: 1, deliveries: 0 }]);
    });

    it('[G-14] [G-11] counts the deliveries that an orderly stop cut, but not against the message', async () => {
      const engine = await start(engineOf);
      const deliveries: (number | undefined)[] = [];
      for (const id of ['a', 'b', 'c', 'd']) {
        const { ledger, recovered } = await own(engine, engine.runtime(id));
        if (id === 'a') await settled(engine, ledger.post(message(1)));
        deliveries.push(recovered.waiting[0]?.deliveries);
        void ledger.take(1, 1, 1, now);
        await settled(engine, ledger.putBack(1, true));
        await settled(engine, ledger.release());
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
  });
}
