import { describe, expect, it } from 'vitest';
import { neverOpened } from '../../src/policy/records/persistedBreaker.ts';
import type { Store } from '../../src/store/store.ts';
import { SharedBreakers } from '../../src/runtime/sharedBreakers.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { hasSqlite, startStore } from '../store/startStore.ts';

const open = { ...neverOpened, state: 'open', openUntil: 60_000, lastOpenMs: 60_000, generation: 1 } as const;

describe('breakers of other processes', () => {
  it.skipIf(!hasSqlite)('[E-7] are looked at once a second, as long as somebody follows one', async () => {
    const { store: other, clock: otherClock, path } = await startStore();
    const { store } = await startStore({ path, clock: otherClock });
    const clock = new SimulatedClock();
    const shared = new SharedBreakers(clock, () => store);
    const heard: string[] = [];
    shared.follow('kb', ({ state }) => heard.push(`kb ${state}`));
    shared.follow('llm', ({ state }) => heard.push(`llm ${state}`));
    await clock.advance(1000);
    other.breakers.save('kb', open);
    other.breakers.save('unheard', open);
    await otherClock.settle();
    await clock.advance(999);
    expect(heard).toEqual([]);
    await clock.advance(1);
    expect(heard).toEqual(['kb open']);
    shared.unfollow('kb');
    other.breakers.save('kb', { ...open, generation: 2 });
    other.breakers.save('llm', open);
    await otherClock.settle();
    await clock.advance(1000);
    expect(heard).toEqual(['kb open', 'llm open']);
    shared.unfollow('llm');
    expect(clock.pending).toBe(0);
  });

  it('[E-7] are not looked for where nobody else can see the store', () => {
    const clock = new SimulatedClock();
    const memory = { persistent: false } as Store;
    new SharedBreakers(clock, () => memory).follow('kb', () => undefined);
    expect(clock.pending).toBe(0);
  });

  it.skipIf(!hasSqlite)('[E-7] [A-3] are heard of by who follows one before the store is open', async () => {
    const { store: other, clock: otherClock, path } = await startStore();
    const clock = new SimulatedClock();
    let store: Store | undefined;
    const shared = new SharedBreakers(clock, () => store);
    const heard: string[] = [];
    shared.follow('kb', ({ state }) => heard.push(state));
    other.breakers.save('kb', open);
    await otherClock.settle();
    await clock.advance(5000);
    ({ store } = await startStore({ path, clock: otherClock }));
    await clock.advance(1000);
    expect(heard).toEqual(['open']);
    shared.unfollow('kb');
    expect(clock.pending).toBe(0);
  });
});
