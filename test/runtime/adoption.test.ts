import { describe, expect, it } from 'vitest';
import { Adoption } from '../../src/runtime/adoption.ts';
import type { SessionStore } from '../../src/sessions/sessionStore.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { RecordedFacts } from '../support/facts.ts';

/** A store whose sessions nobody has, and a gateway that makes some of them. */
function start(free: Set<string>, makes?: (session: string) => boolean) {
  const clock = new SimulatedClock();
  const made: string[] = [];
  const lines: string[] = [];
  const note = (line: string): void => void lines.push(line);
  const asked: number[] = [];
  const store = {
    claimEveryMs: 1000,
    async unowned(most: number) {
      asked.push(clock.now());
      return [...free].slice(0, most);
    },
  } satisfies Partial<SessionStore>;
  const facts = new RecordedFacts();
  const adoption = new Adoption({
    clock,
    facts,
    logger: { debug: note, info: note, warn: note, error: note },
    has: (session) => made.includes(session),
  });
  const by =
    makes &&
    ((session: string): boolean => {
      if (!makes(session)) return false;
      made.push(session);
      // It is claimed.
      free.delete(session);
      return true;
    });
  if (by !== undefined) adoption.by(by);
  return { clock, adoption, facts, made, lines, asked, store: store as unknown as SessionStore };
}

describe('adoption', () => {
  it('[N-4] takes up what nobody has at the start, and what is left later', async () => {
    const free = new Set(['a']);
    const { clock, adoption, made, store } = start(free, () => true);
    await adoption.start(store);
    expect(made).toEqual(['a']);
    free.add('b');
    await clock.advance(999);
    expect(made).toEqual(['a']);
    await clock.advance(1);
    expect(made).toEqual(['a', 'b']);
  });

  it('[N-4] takes up very many without a wait in between, past those that it leaves to others', async () => {
    const free = new Set(Array.from({ length: 1800 }, (_, index) => `${index < 600 ? 'other' : 'mine'}-${index}`));
    const { clock, adoption, made, asked, store } = start(free, (session) => session.startsWith('mine'));
    await adoption.start(store);
    await clock.advance(0);
    while (asked.length < 6 && made.length < 1200) await clock.advance(1);
    expect([made.length, clock.now() < 1000]).toEqual([1200, true]);
  });

  it('[I-4] [N-4] says once what cannot be taken up, and goes on with the others', async () => {
    const free = new Set(['bad', 'good', 'worse']);
    const { clock, adoption, made, lines, store } = start(free, (session) => {
      if (session !== 'good') throw new Error('no handler for it');
      return true;
    });
    await adoption.start(store);
    expect(adoption.failed).toEqual(new Set(['bad', 'worse']));
    await clock.advance(3000);
    expect(made).toEqual(['good']);
    expect(lines).toEqual(['The session bad has something to do, and cannot be taken up: no handler for it']);
    free.delete('bad');
    await clock.advance(1000);
    expect(adoption.failed).toEqual(new Set(['worse']));
  });

  it('[N-4] looks once at a time, and has one next look however often it is asked', async () => {
    const { clock, adoption, asked, store } = start(new Set(), () => true);
    await adoption.start(store);
    await clock.advance(500);
    await Promise.all([adoption.look(), adoption.look()]);
    expect(asked).toEqual([0, 500]);
    await clock.advance(999);
    expect(asked).toEqual([0, 500]);
    await clock.advance(1);
    expect(asked).toEqual([0, 500, 1500]);
  });

  it('[N-4] makes a session once, though it is nobody’s until it is claimed', async () => {
    const free = new Set(['a']);
    const { clock, adoption, made, store } = start(free, () => true);
    await adoption.start(store);
    free.add('a');
    await clock.advance(1000);
    expect(made).toEqual(['a']);
  });

  it('[N-4] looks at once where it is told late what to make', async () => {
    const adopted: string[] = [];
    const store = { unowned: () => Promise.resolve(['a']) } as unknown as SessionStore;
    const surroundings = { clock: new SimulatedClock(), facts: new RecordedFacts(), logger: undefined };
    const adoption = new Adoption({ ...surroundings, has: () => false });
    await adoption.start(store);
    adoption.by((session) => adopted.push(session) > 0);
    await Promise.resolve();
    expect(adopted).toEqual(['a']);
  });

  it('[I-3] makes nothing where it is stopped while it looks', async () => {
    const { adoption, made, store } = start(new Set(['a']), () => true);
    const looking = adoption.start(store);
    adoption.stop();
    await looking;
    expect(made).toEqual([]);
  });

  it('[I-3] looks no more after the stop', async () => {
    const { clock, adoption, asked, store } = start(new Set(), () => true);
    await adoption.start(store);
    adoption.stop();
    await clock.advance(10_000);
    expect(asked).toEqual([0]);
  });

  it('[I-4] [I-5] says 5 s after the start, once, that sessions have something to do that nobody has', async () => {
    const { clock, adoption, facts, store } = start(new Set(['a', 'b']));
    await adoption.start(store);
    await clock.advance(4999);
    expect(facts.of('session.unclaimed')).toEqual([]);
    await clock.advance(60_000);
    expect(facts.of('session.unclaimed')).toMatchObject([{ session: 'a', sessions: 2 }]);
  });

  it('[I-4] says nothing where it takes them up, or where it has stopped', async () => {
    const { clock, adoption, facts, store } = start(new Set(['a']));
    await adoption.start(store);
    adoption.by(() => false);
    const stopped = start(new Set(['a']));
    await stopped.adoption.start(stopped.store);
    stopped.adoption.stop();
    for (const each of [clock, stopped.clock]) await each.advance(60_000);
    expect([facts.of('session.unclaimed'), stopped.facts.of('session.unclaimed')]).toEqual([[], []]);
  });
});
