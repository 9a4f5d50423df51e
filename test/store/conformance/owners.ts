import { describe, expect, it } from 'vitest';
import type { SessionLedger, SessionStore } from '../../../src/sessions/sessionStore.ts';
import { type Engine, settled } from './engine.ts';
import { call, claim, limits, message, now, own, start } from './owned.ts';

/** What any engine has to do with who owns a session. */
export function keepsOwners(engineOf: Engine): void {
  describe('sessions', () => {
    it('[G-11] leaves the session of a runtime that lives alone', async () => {
      const engine = await start(engineOf);
      await own(engine, engine.runtime('a'));
      expect(await claim(engine, engine.runtime('b'))).toEqual({ held: true, by: 'a' });
    });

    it('[G-11] gives a session that was released to who asks next', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.release());
      expect(await claim(engine, engine.runtime('b'))).toMatchObject({ held: false });
    });

    it('[N-4] [G-11] names the sessions that have something to do and that nobody has, and no other', async () => {
      const engine = await start(engineOf);
      const [a, b] = [engine.runtime('a'), engine.runtime('b')];
      const made = async (store: SessionStore, id: string): Promise<SessionLedger> => {
        const claimed = await settled(engine, store.claim(id, limits()));
        if (claimed === undefined || claimed.held) throw new Error(`${id} is held`);
        return claimed.ledger;
      };
      const unowned = async (most = 10) => (await settled(engine, b.unowned(most))).toSorted();
      const [waits, begun, called, over, mine] = [
        await made(a, 'waits'),
        await made(a, 'begun'),
        await made(a, 'called'),
        await made(a, 'over'),
        await made(b, 'mine'),
      ];
      for (const ledger of [waits, begun]) await settled(engine, ledger.post(message(1)));
      void begun.take(1, 1, 1, now);
      await settled(engine, called.open(call('c-1', 1)));
      for (const ledger of [over, mine]) await settled(engine, ledger.post(message(1)));
      await settled(engine, over.finish(1, 'done', now));
      expect(await unowned()).toEqual([]);
      await engine.kill('a');
      expect(await unowned()).toEqual(['begun', 'called', 'waits']);
      expect(await unowned(1)).toHaveLength(1);
      await made(b, 'waits');
      expect(await unowned()).toEqual(['begun', 'called']);
      await settled(engine, mine.release());
      expect(await unowned()).toEqual(['begun', 'called', 'mine']);
    });

    it('[M-11] [G-11] writes nothing for a runtime whose session was taken over', async () => {
      const engine = await start(engineOf);
      const { ledger: old } = await own(engine, engine.runtime('a'));
      await settled(engine, old.post(message(1)));
      await settled(engine, old.open(call('c-1', 1)));
      await engine.kill('a');
      const { ledger } = await own(engine, engine.runtime('b'));
      await settled(engine, ledger.post(message(2)));
      const writes = [
        old.post(message(3)),
        old.finish(1, 'done', now),
        old.putBack(1, true),
        old.open(call('c-2', 3)),
        old.settle('c-1', { status: 'ok', value: 'too late', retries: 0 }, 4, now),
      ];
      void old.take(2, 9, 9, now);
      old.forget(99);
      expect(await settled(engine, Promise.all(writes))).toEqual(Array(5).fill('fenced'));
      await engine.kill('b');
      const { recovered } = await own(engine, engine.runtime('c'));
      expect(recovered.waiting.map(({ number, deliveries }) => [number, deliveries])).toEqual([
        [1, 0],
        [2, 0],
      ]);
      expect(recovered.history).toHaveLength(2);
      expect(recovered.lastTurn).toBe(1);
    });
  });
}
