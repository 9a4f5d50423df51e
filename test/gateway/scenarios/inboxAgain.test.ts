import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createGateway,
  type Fact,
  type FactType,
  type Gateway,
  type GatewayOptions,
  type Outcome,
  type Question,
  type Turn,
} from '../../../src/index.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const minute = 60_000;
const anna = { by: 'anna', way: 'code' } as const;

/** A place for gateways that come after each other, and their clock. */
function place() {
  const clock = new SkippingClock();
  clock.stop();
  return { store: join(temporaryDirectory(), 'gateway.sqlite'), clock };
}

async function start(
  options: Required<Pick<GatewayOptions, 'store'>> & { readonly clock: SkippingClock },
  declare?: (gateway: Gateway) => void,
) {
  const gateway = createGateway({ control: false, inbox: true, ...options });
  onTestFinished(() => gateway.stop());
  const facts: Fact[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  declare?.(gateway);
  await gateway.start();
  /** The one question that is open. */
  const question = async (): Promise<Question> => {
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
    return (await gateway.inbox?.open())?.[0] as Question;
  };
  const answer = (id: string, decision: 'accept' | 'decline' = 'accept') =>
    gateway.inbox?.answer(id, { decision, ...anna });
  return { gateway, question, answer, of: (type: FactType) => facts.filter((fact) => fact.type === type) };
}

/** A gateway whose session asks, and notes what comes of it. */
async function startAsking(options: ReturnType<typeof place>, ask: (turn: Turn) => Promise<Outcome<unknown>>) {
  const outcomes: Outcome<unknown>[] = [];
  const started = await start(options, (gateway) => {
    gateway.session('s1', { onMessage: async (_message, turn) => void outcomes.push(await ask(turn)) });
  });
  return { ...started, outcomes, send: () => started.gateway.session('s1').send({ kind: 'user' }) };
}

describe.skipIf(!hasSqlite)('a question of a turn, in the next gateway', () => {
  it('[G-17] is found again by the next delivery, and asked once', async () => {
    const here = place();
    const asked: string[] = [];
    const ask = (turn: Turn) =>
      turn.ask('sure?', (_signal, context) => {
        asked.push(context?.question ?? '');
        return new Promise<boolean>(() => {});
      });
    const first = await startAsking(here, ask);
    await first.send();
    const before = await first.question();
    await first.gateway.stop();
    here.clock.skip(10 * minute);
    const second = await startAsking(here, ask);
    const after = await second.question();
    expect(after).toMatchObject({ id: before.id, deadlineAt: before.deadlineAt });
    await expect.poll(() => second.gateway.why('s1').questions).toMatchObject([{ question: before.id }]);
    expect(asked).toEqual([before.id]);
    await second.answer(before.id);
    await expect.poll(() => second.outcomes).toEqual([{ ok: true, value: true }]);
    expect([...first.of('question.asked'), ...second.of('question.asked')]).toHaveLength(1);
  });

  it('[G-17] has the answer that was given while nobody waited', async () => {
    const here = place();
    const first = await startAsking(here, (turn) => turn.ask('sure?'));
    await first.send();
    const { id } = await first.question();
    await first.gateway.stop();
    const other = await start(here);
    expect(await other.answer(id)).toMatchObject({ ok: true });
    await other.gateway.stop();
    const second = await startAsking(here, (turn) => turn.ask('sure?'));
    await expect.poll(() => second.outcomes).toEqual([{ ok: true, value: true }]);
  });

  it('[G-17] that expired while nobody waited is not asked again, and never allowed', async () => {
    const here = place();
    const first = await startAsking(here, (turn) => turn.ask('sure?'));
    await first.send();
    const { id } = await first.question();
    await first.gateway.stop();
    here.clock.skip(60 * minute);
    const second = await startAsking(here, (turn) => turn.ask('sure?'));
    expect(await second.gateway.inbox?.open()).toEqual([]);
    expect(await second.answer(id)).toMatchObject({ ok: false });
    await expect.poll(() => second.outcomes).toMatchObject([{ ok: false, failure: { kind: 'timeout' } }]);
  });

  it('[G-17] [G-14] an approval asked in a turn is found again too, and no watchdog ends its turn', async () => {
    const here = place();
    const ids: string[] = [];
    const make = async () => {
      const answers: unknown[] = [];
      const started = await start(here, (gateway) => {
        const approve = gateway.approval('deploys', ({ question = '' }) => void ids.push(question));
        gateway.session('s1', {
          watchdog: { turnMs: minute },
          onMessage: async (_message, turn) =>
            void answers.push(await approve({ action: 'deploy', session: turn.session, payload: { n: 1 } })),
        });
      });
      return { ...started, answers };
    };
    const first = await make();
    await first.gateway.session('s1').send({ kind: 'user' });
    const { id } = await first.question();
    for (let index = 0; index < 5; index++) here.clock.skip(minute);
    expect(first.gateway.why('s1').questions).toMatchObject([{ question: id, what: 'deploy' }]);
    await first.gateway.stop();
    const second = await make();
    await expect.poll(() => second.gateway.why('s1').questions).toMatchObject([{ question: id }]);
    await second.answer(id);
    await expect.poll(() => second.answers).toMatchObject([{ decision: 'accept' }]);
    expect(ids).toEqual([id]);
    expect([...first.of('session.watchdog_fired'), ...second.of('session.watchdog_fired')]).toEqual([]);
  });
});

describe.skipIf(!hasSqlite)('the inbox of two gateways', () => {
  async function startTwo() {
    const here = place();
    const one = await start(here);
    const two = await start(here);
    const answer = one.gateway.approval('deploys')({ action: 'deploy' });
    return { ...here, one, two, answer, id: (await two.question()).id };
  }

  it('[G-17] an answer in one is noticed by the other within a second, and on record once', async () => {
    const { one, two, answer, clock, id } = await startTwo();
    await two.answer(id);
    clock.skip(1000);
    expect(await answer).toMatchObject({ decision: 'accept' });
    expect(one.of('question.answered')).toMatchObject([{ by: 'anna' }]);
    for (const { gateway } of [one, two]) await gateway.store?.flush();
    const recorded = await two.gateway.store?.read({ category: 'question', limit: 10 });
    expect(recorded?.map(({ type }) => type)).toEqual(['asked', 'answered']);
  });

  it('[G-17] an answer of the last moment counts: who was told so is not contradicted', async () => {
    const { two, answer, clock, id } = await startTwo();
    clock.skip(15 * minute - 1);
    expect(await two.answer(id)).toMatchObject({ ok: true });
    clock.skip(1);
    expect(await answer).toMatchObject({ decision: 'accept' });
  });
});
