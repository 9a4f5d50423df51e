import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { type Engine, settled } from './engine.ts';

const now = Date.UTC(2026, 0, 1);
const day = 24 * 3_600_000;

/** Adds one to what is kept of a scope, as a number. */
const add = (store: Store, scope: string, at = now): Promise<number | undefined> =>
  store.spinning.change(scope, at, (memory) => {
    const result = Number(memory ?? 0) + 1;
    return { memory: String(result), result };
  });
const read = (store: Store, scope: string, at = now): Promise<string | undefined> =>
  store.spinning.change(scope, at, (memory) => ({ result: memory }));

/** What any engine has to do with watches of repetition. */
export function keepsSpinning(engine: Engine): void {
  describe('watches of repetition', () => {
    it('[G-15] are those of all who share the store, by scope', async () => {
      const started = await engine.start();
      const { one, two } = started;
      expect(await settled(started, read(one, 's1'))).toBeUndefined();
      expect(await settled(started, add(one, 's1'))).toBe(1);
      expect(await settled(started, add(two, 's1'))).toBe(2);
      expect(await settled(started, add(one, 's1/agent'))).toBe(1);
      expect(await settled(started, read(one, 's1'))).toBe('2');
    });

    it('[H-5] lose no count where two add at once', async () => {
      const started = await engine.start();
      const { one, two } = started;
      const all = Promise.all(Array.from({ length: 20 }, (_, index) => add(index % 2 === 0 ? one : two, 's1')));
      expect((await settled(started, all)).toSorted((a = 0, b = 0) => a - b)).toEqual(
        Array.from({ length: 20 }, (_, index) => index + 1),
      );
    });

    if (!engine.isInProcess || !engine.isShared) return;

    it('[G-15] of a scope that was left a week ago are forgotten once a new one comes', async () => {
      const started = await engine.start();
      const { one } = started;
      await settled(started, Promise.all([add(one, 'old'), add(one, 'young', now + 2 * day)]));
      await settled(started, add(one, 'old', now + day));
      expect(await settled(started, add(one, 'new', now + 8 * day - 1))).toBe(1);
      expect(await settled(started, read(one, 'old'))).toBe('2');
      await settled(started, add(one, 'newer', now + 8 * day + 1));
      expect(await settled(started, read(one, 'old'))).toBeUndefined();
      expect(await settled(started, read(one, 'young'))).toBe('1');
    });

    it('[G-15] are at most 1000; the one that was changed first is forgotten', async () => {
      const started = await engine.start();
      const { one } = started;
      const all = Array.from({ length: 1001 }, (_, index) => add(one, `s${index}`, now + index));
      await settled(started, Promise.all(all));
      expect(await settled(started, read(one, 's0'))).toBeUndefined();
      expect(await settled(started, read(one, 's1'))).toBe('1');
    });
  });
}
