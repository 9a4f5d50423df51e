import { describe, expect, it } from 'vitest';
import type { NewQuestion, PersonAnswer } from '../../../src/policy/records/question.ts';
import { type Engine, settled, type StartedEngine } from './engine.ts';

const now = Date.UTC(2026, 0, 1);
const yes: PersonAnswer = { decision: 'accept', by: 'anna', way: 'command' };
const no: PersonAnswer = { decision: 'decline', by: 'ben', way: 'page', reason: 'not today' };

const question = (given: Partial<NewQuestion> = {}): NewQuestion => ({
  id: 'a1',
  place: 'p1',
  waiter: 'w1',
  source: 'approval',
  asker: 'deploys',
  session: 's1',
  what: 'deploy?',
  detail: { host: 'a' },
  form: { is: 'decision' },
  askedAt: now,
  deadlineAt: now + 1000,
  ...given,
});

async function start(engine: Engine) {
  const started = await engine.start();
  const { one, two } = started;
  const within = <T>(promise: Promise<T>): Promise<T> => settled(started as StartedEngine, promise);
  return { within, first: one.questions, other: two.questions };
}

/** What any engine has to do with questions to people. */
export function keepsQuestions(engine: Engine): void {
  describe('questions to people', () => {
    it('[G-17] are found in their place by who asks again, whoever that is', async () => {
      const { within, first, other } = await start(engine);
      const asked = await within(first.ask(question()));
      expect(asked).toEqual({ isNew: true, question: { ...question(), state: 'open' } });
      const again = question({ id: 'a2', waiter: 'w2', askedAt: now + 5, deadlineAt: now + 9000 });
      expect(await within(other.ask(again))).toEqual({
        isNew: false,
        question: { ...question({ waiter: 'w2' }), state: 'open' },
      });
      expect(await within(first.open())).toMatchObject([{ id: 'a1', deadlineAt: now + 1000, detail: { host: 'a' } }]);
    });

    it('[G-17] are asked once where two ask at once', async () => {
      const { within, first, other } = await start(engine);
      const [a, b] = await within(Promise.all([first.ask(question()), other.ask(question({ id: 'a2' }))]));
      expect([a?.isNew, b?.isNew].filter(Boolean)).toHaveLength(1);
      expect(a?.question.id).toBe(b?.question.id);
    });

    it('[G-17] are ended by the first answer; who comes later is given it', async () => {
      const { within, first, other } = await start(engine);
      await within(first.ask(question()));
      const ends = await within(
        Promise.all([
          first.end('a1', { state: 'answered', answer: yes }, now + 10),
          other.end('a1', { state: 'answered', answer: no }, now + 10),
        ]),
      );
      const found = ends.map((end) => (typeof end === 'object' ? end : undefined));
      expect(found.filter((end) => end?.isNew)).toHaveLength(1);
      const [winner] = found.filter((end) => end?.isNew).map((end) => end?.question.answer);
      expect(found.map((end) => end?.question.answer)).toEqual([winner, winner]);
      expect(found.map((end) => end?.question.endedAt)).toEqual([now + 10, now + 10]);
      expect(await within(other.ask(question({ id: 'a2' })))).toMatchObject({
        isNew: false,
        question: { id: 'a1', state: 'answered', answer: winner },
      });
      expect(await within(first.open())).toEqual([]);
    });

    it('[G-17] are not answered at their deadline or behind it', async () => {
      const { within, first, other } = await start(engine);
      await within(first.ask(question()));
      await within(first.ask(question({ id: 'a2', place: 'p2' })));
      expect(await within(other.end('a2', { state: 'answered', answer: yes }, now + 999))).toMatchObject({
        isNew: true,
      });
      expect(await within(other.end('a1', { state: 'answered', answer: yes }, now + 1000))).toMatchObject({
        isNew: true,
        question: { state: 'expired' },
      });
      expect((await within(first.named('a1')))[0]).not.toHaveProperty('answer.decision');
      expect(await within(first.end('a1', { state: 'answered', answer: yes }, now + 10))).toMatchObject({
        isNew: false,
        question: { state: 'expired' },
      });
    });

    it('[G-17] are withdrawn by who waits now alone, and open again for who asks again, until their first deadline', async () => {
      const { within, first, other } = await start(engine);
      await within(first.ask(question()));
      await within(other.ask(question({ id: 'a2', waiter: 'w2' })));
      expect(await within(first.end('a1', { state: 'withdrawn', waiter: 'w1' }, now))).toMatchObject({ isNew: false });
      expect(await within(other.end('a1', { state: 'withdrawn', waiter: 'w2' }, now))).toMatchObject({ isNew: true });
      expect(await within(first.ask(question({ id: 'a3', waiter: 'w3', deadlineAt: now + 9000 })))).toEqual({
        isNew: true,
        question: { ...question({ waiter: 'w3' }), state: 'open' },
      });
    });

    it('[G-17] are signed by one secret of the store, whoever signs; in memory, where nobody else could read them, they are not', async () => {
      const { within, first, other } = await start(engine);
      const signed = await Promise.all([within(first.sign('a1')), within(other.sign('a1')), within(first.sign('a2'))]);
      const [one, same, another] = signed;
      expect(one).toEqual(same);
      expect(engine.isShared).toBe(/^[\w-]{43}$/.test(one ?? ''));
      expect(engine.isShared).toBe(one !== another);
    });

    it('[G-17] are found by the beginning of their id', async () => {
      const { within, first } = await start(engine);
      for (const id of ['abc1', 'abd2', 'ff01']) await within(first.ask(question({ id, place: id })));
      expect((await within(first.named('ab'))).map(({ id }) => id)).toEqual(['abc1', 'abd2']);
      expect((await within(first.named('abd'))).map(({ id }) => id)).toEqual(['abd2']);
      expect(await within(first.named('%f'))).toEqual([]);
      expect(await within(first.end('nobody', { state: 'expired' }, now))).toBeUndefined();
    });
  });
}
