import { describe, expect, it } from 'vitest';
import { type Engine, settled } from './engine.ts';
import { call, lost, message, now, own, start } from './owned.ts';

/** What any engine has to do with turns that are over. */
export function keepsHistory(engineOf: Engine): void {
  describe('the history of sessions', () => {
    it('[G-12] reads back whole turns of the history, the latest', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      for (const turn of [1, 2, 3]) {
        await settled(engine, ledger.post(message(turn)));
        void ledger.take(turn, turn, turn * 10, now);
        await settled(engine, ledger.open(call(`c-${turn}`, turn * 10 + 1, turn)));
        await settled(engine, ledger.settle(`c-${turn}`, lost, turn * 10 + 2, now));
        await settled(engine, ledger.finish(turn, 'done', now));
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

    it('[G-9] remembers the key of a message whose turn it has forgotten, and forgets the rest of it', async () => {
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      for (const [number, end] of [
        [1, 'done'],
        [2, 'dropped'],
        [3, 'failed'],
      ] as const) {
        await settled(engine, ledger.post(message(number, `key-${number}`)));
        if (end !== 'dropped') await settled(engine, ledger.take(number, number, number, now));
        await settled(engine, ledger.finish(number, end, now));
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
      const engine = await start(engineOf);
      const { ledger } = await own(engine, engine.runtime('a'));
      await settled(engine, ledger.post(message(1)));
      void ledger.take(1, 1, 1, now);
      await settled(engine, ledger.open(call('c-1', 2)));
      ledger.forget(5);
      await engine.settle();
      await engine.kill('a');
      const { recovered } = await own(engine, engine.runtime('b'));
      expect(recovered.waiting).toHaveLength(1);
      expect(recovered.lost).toHaveLength(1);
    });
  });
}
