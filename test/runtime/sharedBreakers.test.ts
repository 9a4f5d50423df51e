import { describe, expect, it } from 'vitest';
import { neverOpened } from '../../src/policy/records/persistedBreaker.ts';
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
    new SharedBreakers(clock, () => undefined).follow('kb', () => undefined);
    expect(clock.pending).toBe(0);
  });
});
