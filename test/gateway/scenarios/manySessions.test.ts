import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { inSlices } from '../../../src/runtime/runtimeLife.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

describe('work in slices', () => {
  /** Each item takes `itemMs`; the items of each turn of the loop. */
  async function slices(items: number, itemMs: number, most = Number.POSITIVE_INFINITY): Promise<number[]> {
    let now = 0;
    let worked = 0;
    const found: number[] = [0];
    const clock = {
      now: () => now,
      nextTurn(callback: () => void) {
        found.push(0);
        queueMicrotask(callback);
      },
    };
    await inSlices(clock, Array.from({ length: items }), () => {
      now += itemMs;
      worked++;
      found.push((found.pop() ?? 0) + 1);
      return worked < most;
    });
    return found;
  }

  it('[G-6] gives the loop a turn after 10 ms, or after 200 items', async () => {
    expect(await slices(12, 3)).toEqual([4, 4, 4, 0]);
    expect(await slices(450, 0)).toEqual([200, 200, 50]);
  });

  it('[G-6] takes no more than one item that is longer than a slice, and ends when it is told', async () => {
    expect(await slices(3, 50)).toEqual([1, 1, 1, 0]);
    expect(await slices(10, 0, 4)).toEqual([4]);
  });
});

describe.skipIf(!hasSqlite)('a gateway with very many sessions', () => {
  const count = 450;
  const ids = Array.from({ length: count }, (_, index) => `s-${String(index).padStart(4, '0')}`);

  function makeGateway(store: string) {
    const turns: number[] = [];
    let inTurn = 0;
    const clock = {
      now: () => systemClock.now(),
      wallNow: () => systemClock.wallNow(),
      setTimeout: systemClock.setTimeout.bind(systemClock),
      clearTimeout: systemClock.clearTimeout.bind(systemClock),
      nextTurn: (callback: () => void) => systemClock.nextTurn(callback),
    };
    const gateway = createGateway({ store, control: false, clock, retention: false });
    onTestFinished(() => gateway.stop());
    const seen: string[] = [];
    for (const id of ids) {
      gateway.session(id, {
        onMessage: ({ text }, turn) => {
          if (text === 'hang') return new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
          seen.push(`${id} ${text}`);
          return text;
        },
      });
    }
    gateway.on('child.started', () => {
      if (inTurn++ === 0) {
        setImmediate(() => {
          turns.push(inTurn);
          inTurn = 0;
        });
      }
    });
    return { gateway, seen, turns };
  }
  const owned = (store: string) =>
    openDatabase(store).prepare('SELECT id FROM unwedge_sessions WHERE owner IS NOT NULL ORDER BY id').all();

  it('[G-6] [G-11] claims them in slices, and reads the history of each when it is needed', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const first = makeGateway(store);
    const early = first.gateway.session('s-0003').send({ kind: 'user', text: 'early' }, { key: 'k' });
    await first.gateway.start();
    expect(Math.max(...first.turns)).toBeLessThanOrEqual(200);
    expect(await early).toMatchObject({ accepted: true, durable: true });
    await first.gateway.session('s-0001').send({ kind: 'user', text: 'hang' });
    await first.gateway.session('s-0001').send({ kind: 'user', text: 'waits' });
    expect(owned(store)).toEqual(ids.map((id) => ({ id })));
    await first.gateway.stop();

    const second = makeGateway(store);
    await second.gateway.start();
    expect(owned(store)).toEqual(ids.map((id) => ({ id })));
    expect(second.gateway.session('s-0003').history).toMatchObject([{ id: 's-0003-m1', message: { text: 'early' } }]);
    const acceptance = await second.gateway.session('s-0003').send({ kind: 'user', text: 'later' });
    expect(acceptance).toMatchObject({ accepted: true, durable: true, id: 's-0003-m2' });
    if (acceptance.accepted) await acceptance.processed;
    expect(second.seen).toEqual(['s-0003 later']);
    expect(second.gateway.session('s-0003').history).toHaveLength(2);
    await second.gateway.stop();

    const third = makeGateway(store);
    await third.gateway.start();
    const again = third.gateway.session('s-0003').send({ kind: 'user', text: 'early' }, { key: 'k' });
    expect(await again).toEqual({ accepted: false, reason: 'duplicate', id: 's-0003-m1' });
  });
});
