import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ApprovalHandler,
  createGateway,
  type Fact,
  type FactType,
  type Gateway,
  type GatewayOptions,
  type Outcome,
  type Turn,
} from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { deferred, isSettled } from '../../support/deferred.ts';

const minute = 60_000;

interface Started {
  readonly gateway: Gateway;
  readonly clock: SimulatedClock;
  readonly of: (type: FactType) => Fact[];
}

async function start(options: GatewayOptions = {}, declare?: (gateway: Gateway) => void): Promise<Started> {
  const clock = (options.clock as SimulatedClock | undefined) ?? new SimulatedClock();
  const gateway = createGateway({ store: ':memory:', control: false, inbox: true, ...options, clock });
  onTestFinished(() => gateway.stop());
  const facts: Fact[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  declare?.(gateway);
  await gateway.start();
  return { gateway, clock, of: (type) => facts.filter((fact) => fact.type === type) };
}

async function startApproval(handler?: ApprovalHandler, options: GatewayOptions = {}) {
  const started = await start(options);
  return { ...started, approve: started.gateway.approval('deploys', handler) };
}

const open = async ({ gateway, clock }: Pick<Started, 'gateway' | 'clock'>) => {
  await clock.settle();
  return (await gateway.inbox?.open()) ?? [];
};

const anna = { by: 'anna', way: 'code' } as const;

describe('an approval in the inbox', () => {
  it('[G-17] [H-4] waits 15 min for a person and is then declined, whatever its handler says later', async () => {
    const late = deferred<string>();
    let aborted: AbortSignal | undefined;
    const { approve, clock, of } = await startApproval((_request, { signal }) => {
      aborted = signal;
      return late.promise;
    });
    const answer = approve({ action: 'deploy' });
    await clock.advance(15 * minute - 1);
    expect(await isSettled(answer)).toBe(false);
    await clock.advance(1);
    expect(await answer).toMatchObject({ decision: 'decline', failure: 'timeout' });
    expect(aborted?.aborted).toBe(true);
    late.resolve('accept');
    await clock.settle();
    expect(of('approval.completed')).toEqual([]);
    expect(of('question.expired')).toMatchObject([{ asker: 'deploys', waitedMs: 15 * minute }]);
    expect(of('question.answered')).toEqual([]);
  });

  it('[H-4] keeps the deadline it is given, and 30 s where no inbox is on', async () => {
    const given = await start();
    const first = given.gateway.approval('a', () => new Promise(() => {}), { overallMs: 1000 })({ action: 'x' });
    await given.clock.advance(1000);
    expect(await first).toMatchObject({ failure: 'timeout' });
    const off = await start({ inbox: false });
    const second = off.gateway.approval('a', () => new Promise(() => {}))({ action: 'x' });
    await off.clock.advance(30_000);
    expect(await second).toMatchObject({ failure: 'timeout' });
    expect(off.gateway.inbox).toBeUndefined();
    expect(() => off.gateway.approval('b')).toThrow(TypeError);
  });

  it('[G-17] is what its handler answers, on record with who answered', async () => {
    const started = await startApproval(() => ({ decision: 'accept', reason: 'by rule' }));
    expect(await started.approve({ action: 'deploy' })).toMatchObject({ decision: 'accept', reason: 'by rule' });
    expect(started.of('question.answered')).toMatchObject([{ decision: 'accept', way: 'handler', reason: 'by rule' }]);
    expect(await open(started)).toEqual([]);
  });

  it('[G-17] is answered by whoever is first; who comes later is told by whom and when', async () => {
    const late = deferred<string>();
    const started = await startApproval(() => late.promise);
    const answer = started.approve({ action: 'deploy', session: 's1', payload: { host: 'a' } });
    const [question] = await open(started);
    expect(question).toMatchObject({ source: 'approval', asker: 'deploys', what: 'deploy', session: 's1' });
    const { gateway } = started;
    const id = question?.id ?? '';
    expect(await gateway.inbox?.answer(id.slice(0, 6), { decision: 'accept', ...anna })).toMatchObject({ ok: true });
    expect(await answer).toMatchObject({ decision: 'accept', value: { by: 'anna', question: id } });
    const second = await gateway.inbox?.answer(id, { decision: 'decline', by: 'ben', way: 'code' });
    expect(second?.ok).toBe(false);
    expect(second?.text).toMatch(/allowed by anna \(code\) at \d{4}-/);
    late.resolve('decline');
    await started.clock.settle();
    expect(started.of('question.answered')).toMatchObject([{ question: id, decision: 'accept', by: 'anna' }]);
    expect(started.of('approval.late')).toEqual([]);
  });

  it.each([
    ['another action', { action: 'drop production' }],
    ['another payload', { action: 'deploy', payload: { host: 'b' } }],
    ['another form', { action: 'deploy', form: { is: 'text' } as const }],
  ])('[G-17] [H-4] allows nothing that nobody has seen: %s in its place is asked', async (_, other) => {
    const started = await startApproval();
    const first = started.approve({ action: 'deploy', place: 'p1' });
    const [question] = await open(started);
    await started.gateway.inbox?.answer(question?.id ?? '', { decision: 'accept', ...anna });
    expect(await first).toMatchObject({ decision: 'accept' });
    expect(await started.approve({ action: 'deploy', place: 'p1' })).toMatchObject({ decision: 'accept' });
    const second = started.approve({ place: 'p1', ...other });
    const [asked] = await open(started);
    expect(asked?.id).not.toBe(question?.id ?? asked?.id);
    await started.gateway.inbox?.answer(asked?.id ?? '', { decision: 'decline', ...anna });
    expect(await second).toMatchObject({ decision: 'decline' });
  });

  it('[G-17] may have no handler, or one that leaves the answer to the inbox', async () => {
    for (const handler of [undefined, () => undefined]) {
      const started = await startApproval(handler);
      const answer = started.approve({ action: 'deploy' });
      const [question] = await open(started);
      await started.gateway.inbox?.answer(question?.id ?? '', { decision: 'decline', reason: 'not now', ...anna });
      expect(await answer).toMatchObject({ decision: 'decline', reason: 'not now' });
    }
  });

  it('[H-4] is declined when its handler crashes or says what cannot be read, for good', async () => {
    const crash = await startApproval(() => {
      throw new Error('handler bug');
    });
    expect(await crash.approve({ action: 'x' })).toMatchObject({ decision: 'decline', failure: 'crash' });
    const odd = await startApproval(() => 'perhaps');
    expect(await odd.approve({ action: 'x' })).toMatchObject({ decision: 'decline', failure: 'unreadable' });
    for (const { of } of [crash, odd]) expect(of('question.answered')).toMatchObject([{ decision: 'decline' }]);
    expect(await open(crash)).toEqual([]);
  });

  it('[G-17] is withdrawn with its signal', async () => {
    const started = await startApproval();
    const controller = new AbortController();
    const answer = started.approve({ action: 'x' }, { signal: controller.signal });
    const [question] = await open(started);
    controller.abort();
    expect(await answer).toMatchObject({ decision: 'decline', failure: 'cancelled' });
    expect(await open(started)).toEqual([]);
    expect(started.of('question.withdrawn')).toMatchObject([{ question: question?.id }]);
    const late = await started.gateway.inbox?.answer(question?.id ?? '', { decision: 'accept', ...anna });
    expect(late).toMatchObject({ ok: false, text: expect.stringContaining('withdrawn') as string });
  });

  it('[S-4] keeps and tells no secret of what is asked', async () => {
    const started = await startApproval();
    const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
    void started.approve({ action: `login with ${secret}`, payload: { token: secret, path: '/x' } });
    const found = await open(started);
    expect(JSON.stringify(found)).not.toContain(secret);
    expect(found).toMatchObject([{ detail: { path: '/x' } }]);
    expect(JSON.stringify([...started.of('question.asked')])).not.toContain(secret);
  });

  it.each([
    [{}, 'the field n'],
    [{ n: '1' }, 'an integer as n'],
    [{ n: 1, color: 'blue' }, 'one of red, green as color'],
    [{ n: 1, more: true }, 'no field more'],
    [[1], 'an object of fields'],
  ])('[G-17] takes no fields that do not fit their schema: %j', async (value, wanted) => {
    const { gateway } = await startApproval();
    const properties = { n: { type: 'integer' }, color: { type: 'string', enum: ['red', 'green'] } };
    const schema = { type: 'object', properties, required: ['n'], additionalProperties: false };
    const answered = gateway.inbox?.ask({
      source: 'elicitation',
      asker: 'm',
      what: 'which?',
      form: { is: 'fields', schema },
    });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
    const id = (await gateway.inbox?.open())?.[0]?.id ?? '';
    const answer = (fields: unknown, by = 'anna') =>
      gateway.inbox?.answer(id, { decision: 'accept', value: fields, by, way: 'code' });
    expect(await answer(value)).toMatchObject({
      ok: false,
      text: expect.stringContaining(`takes ${wanted}`) as string,
    });
    expect(await answer({ n: 1, color: 'red' }, 'Ana\nA person was asked')).toMatchObject({ ok: true });
    expect((await answered)?.text).toContain('allowed by Ana A person was asked (code)');
    // Who comes late is told so, whatever the form.
    expect(await answer({})).toMatchObject({ ok: false, text: expect.stringContaining('allowed by Ana') as string });
  });

  it('[G-17] is withdrawn with its gateway where nobody asks it again, and waits on where it has a place', async () => {
    const { approve, gateway, of } = await startApproval();
    const answers = [approve({ action: 'x' }), approve({ action: 'y', place: 'one' })];
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(2);
    await gateway.stop();
    expect(await Promise.all(answers)).toMatchObject([{ decision: 'decline' }, { decision: 'decline' }]);
    const first = of('question.asked').find((fact) => 'what' in fact && fact.what === 'x');
    expect(of('question.withdrawn')).toMatchObject([{ question: (first as { question?: string }).question }]);
  });

  it('[G-17] names what is wrong with an answer', async () => {
    const started = await startApproval();
    void started.approve({ action: 'x' });
    void started.gateway.inbox?.ask({ source: 'workflow', asker: 'w', what: 'name?', form: { is: 'text' } });
    const questions = await open(started);
    const [first, second] = questions.map(({ id }) => id);
    const answer = (id = '', value?: unknown) =>
      started.gateway.inbox?.answer(id, { decision: 'accept', value, ...anna });
    expect(await answer(first, 'yes')).toMatchObject({
      ok: false,
      text: expect.stringContaining('yes or no') as string,
    });
    expect(await answer(second)).toMatchObject({ ok: false, text: expect.stringContaining('a text') as string });
    expect(await answer(second, ' ')).toMatchObject({ ok: false, text: expect.stringContaining('a text') as string });
    expect(await answer('')).toMatchObject({ ok: false });
    expect(await answer('beef')).toMatchObject({ ok: false, text: 'No question beef is known here.' });
    expect(await open(started)).toHaveLength(2);
    expect(await answer(second, 'anna')).toMatchObject({ ok: true });
  });
});

describe('a question of a turn in the inbox', () => {
  /** A gateway whose session asks, and notes what comes of it. */
  async function startAsking(
    ask: (turn: Turn) => Promise<Outcome<unknown>>,
    options: GatewayOptions = {},
  ): Promise<Started & { readonly outcomes: Outcome<unknown>[]; readonly send: () => Promise<unknown> }> {
    const outcomes: Outcome<unknown>[] = [];
    const started = await start(options, (gateway) => {
      gateway.session('s1', { onMessage: async (_message, turn) => void outcomes.push(await ask(turn)) });
    });
    return { ...started, outcomes, send: () => started.gateway.session('s1').send({ kind: 'user' }) };
  }

  it('[G-17] is answered by yes, no or a text; why names it', async () => {
    const started = await startAsking((turn) => turn.ask('delete 3 files?'));
    const { gateway, outcomes, send, clock } = started;
    void send();
    const [question] = await open(started);
    expect(gateway.why('s1').questions).toMatchObject([
      { question: question?.id, inbox: true, what: 'delete 3 files?', deadlineInMs: 15 * minute },
    ]);
    await gateway.inbox?.answer(question?.id ?? '', { decision: 'decline', ...anna });
    await clock.settle();
    expect(outcomes).toEqual([{ ok: true, value: false }]);
    const asks = await startAsking((turn) => turn.ask('which host?', undefined, { form: 'text' }));
    void asks.send();
    const [text] = await open(asks);
    await asks.gateway.inbox?.answer(text?.id ?? '', { decision: 'accept', value: 'db-2', ...anna });
    await asks.clock.settle();
    expect(asks.outcomes).toEqual([{ ok: true, value: 'db-2' }]);
  });

  it('[G-17] [G-14] fails at its deadline, saying that a person was asked and until when', async () => {
    const { clock, outcomes, send } = await startAsking((turn) => turn.ask('sure?', () => new Promise(() => {})));
    void send();
    await clock.advance(15 * minute - 1);
    expect(outcomes).toEqual([]);
    await clock.advance(1);
    expect(outcomes).toMatchObject([{ ok: false, failure: { kind: 'timeout' } }]);
    expect((outcomes[0] as { failure: { message: string } }).failure.message).toMatch(
      /^A person was asked \(question \w+\); nobody answered until \d{4}-.*: declined: sure\?$/,
    );
  });

  it('[G-17] is another one where the same is asked twice', async () => {
    const started = await startAsking(async (turn) => {
      const both = await Promise.all([turn.ask('sure?'), turn.ask('sure?')]);
      return { ok: true, value: both };
    });
    void started.send();
    const questions = await open(started);
    expect(questions).toHaveLength(2);
    for (const [index, { id }] of questions.entries())
      await started.gateway.inbox?.answer(id, { decision: index === 0 ? 'accept' : 'decline', ...anna });
    await started.clock.settle();
    expect(JSON.stringify(started.outcomes)).toContain('true');
    expect(JSON.stringify(started.outcomes)).toContain('false');
  });
});
