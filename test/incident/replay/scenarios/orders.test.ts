import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { Incident } from '../../../../incident/incident.ts';
import { AttemptError } from '../../../../src/policy/failures/failure.ts';
import { replay } from '../../../../incident/replay/replay.ts';
import type { ReplayResult } from '../../../../incident/replay/compare.ts';
import type { Session } from '../../../../src/sessions/session.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { gathered, readBack } from '../gathered.ts';

/** A gateway with a session, whose one tool fails after 50 ms the first time, and hangs when it is called `hang`. */
async function startGateway() {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  const policy = {
    retry: { maxAttempts: 3 },
    breaker: { consecutiveFailures: 2, resetTimeoutMs: 60_000 },
    limits: { idleMs: 200_000, attemptMs: 200_000, overallMs: 250_000 },
  };
  let attempts = 0;
  const kb = gateway.integration('kb', { effect: 'readOnly', policy }, ({ tool }: { tool: string }) => {
    if (tool === 'hang') return new Promise<string>(() => undefined);
    return new Promise<string>((resolve, reject) => {
      const failure = new AttemptError({ kind: 'transient', message: 'HTTP 503', outcome: 'failed' });
      const isBad = tool === 'bad' || (tool === 'flaky' && attempts++ === 0);
      clock.setTimeout(() => (isBad ? reject(failure) : resolve('found')), 50);
    });
  });
  const agent = gateway.session('agent:main', {
    onMessage: async ({ text = '' }, turn) => {
      if (text !== 'stuck') return turn.tool('kb', text, { tool: text });
      await turn.tool('kb', 'good', { tool: 'good' });
      return new Promise(() => undefined);
    },
    watchdog: { toolCallMs: 100_000, turnMs: 150_000, releaseMs: 1000 },
  });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  return { clock, gateway, kb, agent };
}

/** The incident of a session whose one turn met an order after 100 ms. */
async function ordered(text: string, order: (agent: Session) => { readonly ok: boolean }): Promise<Incident> {
  const { clock, gateway, agent } = await startGateway();
  await agent.send({ kind: 'user', text });
  await clock.advance(100);
  expect(order(agent)).toMatchObject({ ok: true });
  await clock.advance(10_000);
  // So that the record reaches beyond what would have happened by itself.
  await agent.send({ kind: 'user', text: 'good' });
  await clock.advance(1000);
  return readBack(await gathered(gateway, 'agent:main', clock));
}

const play = (incident: Incident): Promise<ReplayResult> =>
  replay(incident, { clock: new SimulatedClock(), random: seededRandom(1) });

/** The same, had nobody given an order. */
function withoutOrders(incident: Incident): Incident {
  const orders = new Set(['fired', 'retriesStopped', 'probed']);
  const integrations = incident.integrations.map((each) => ({
    ...each,
    records: each.records.map((record) => ({
      ...record,
      rows: record.rows.filter((row) => row.what !== 'input' || !orders.has(row.input)),
    })),
  }));
  return { ...incident, integrations, events: incident.events.filter(({ category }) => category !== 'operator') };
}

const rule = (name: string) => (agent: Session) =>
  agent.fire(agent.why().rules.find((each) => each.rule === name)?.id ?? 'none');

describe('the replay of orders of an operator', () => {
  it.each([
    ['tool_call', 'hang', 'watchdog fired: tool_call'],
    ['turn', 'stuck', 'watchdog fired: turn'],
  ])('[O-16] has the rule %s act when it was fired', async (name, text, what) => {
    const incident = await ordered(text, rule(name));
    const result = await play(incident);
    expect(result.first).toBeUndefined();
    const fired = result.lines.find(({ replayed }) => replayed?.what === what);
    expect(fired?.replayed?.atMs).toBeLessThan(200);
    expect((await play(withoutOrders(incident))).isSame).toBe(false);
  });

  it('[O-16] leaves a turn behind when it was left behind, whose handler goes on', async () => {
    const { clock, gateway, agent } = await startGateway();
    await agent.send({ kind: 'user', text: 'stuck' });
    await clock.advance(100);
    expect(rule('turn')(agent)).toMatchObject({ ok: true });
    await clock.advance(200);
    expect(rule('release')(agent)).toMatchObject({ ok: true });
    await agent.send({ kind: 'user', text: 'good' });
    await clock.advance(20_000);
    const incident = readBack(await gathered(gateway, 'agent:main', clock));
    const { first, lines } = await play(incident);
    expect(first).toBeUndefined();
    const ofSession = lines.filter(({ of }) => of === 'session agent:main');
    expect(ofSession.map(({ replayed }) => replayed?.what)).toEqual([
      'watchdog fired: turn',
      'turn ended badly',
      'turn ended well',
    ]);
    // Its time would have come 800 ms later.
    expect(ofSession[1]?.replayed?.atMs).toBeLessThan(320);
  });

  it('[O-16] makes the next attempt when its wait was ended', async () => {
    const incident = await ordered('flaky', rule('next_attempt'));
    const { first, lines } = await play(incident);
    expect(first).toBeUndefined();
    const ended = lines.find(({ of }) => of === 'kb-1')?.replayed;
    expect(ended?.what).toBe('answered, 2 attempts');
    expect(ended?.atMs).toBeLessThan(180);
  });

  it('[O-16] tries a call no more from when it was told not to', async () => {
    const incident = await ordered('flaky', (agent) => agent.stopRetrying(String(agent.why().calls[0]?.call)));
    const { first, lines } = await play(incident);
    expect(first).toBeUndefined();
    expect(lines.find(({ of }) => of === 'kb-1')?.replayed?.what).toBe('failed: transient, 1 attempt');
    expect((await play(withoutOrders(incident))).first?.of).toBe('kb-1');
  });

  it.each([
    ['a call', (agent: Session) => agent.cancel(String(agent.why().calls[0]?.call))],
    ['a turn', (agent: Session) => agent.cancel()],
  ])('[O-16] ends %s that was cancelled', async (_, cancel) => {
    const { first, lines } = await play(await ordered('hang', cancel));
    expect(first).toBeUndefined();
    const ended = lines.find(({ of }) => of === 'kb-1')?.replayed;
    expect(ended?.what).toBe('failed: cancelled, 1 attempt');
    expect(ended?.atMs).toBeLessThan(200);
  });

  it('[O-16] probes an open circuit when it was told to', async () => {
    const { clock, gateway, kb } = await startGateway();
    for (let times = 0; times < 2; times++) void kb.call({ tool: 'bad' }, { maxAttempts: 1 });
    await clock.advance(1000);
    expect(kb.breaker.state).toBe('open');
    expect(kb.breaker.probe()).toMatchObject({ ok: true });
    void kb.call({ tool: 'good' });
    await clock.advance(1000);
    expect(kb.breaker.state).toBe('closed');
    const incident = readBack(await gathered(gateway, 'kb', clock));
    const { first, lines } = await play(incident);
    expect(first).toBeUndefined();
    expect(lines.filter(({ of }) => of === 'circuit of kb').map(({ replayed }) => replayed?.what)).toEqual([
      'opened: transient',
      'half_opened',
      'closed',
    ]);
    expect((await play(withoutOrders(incident))).isSame).toBe(false);
  });
});
