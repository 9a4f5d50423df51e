import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { integrationMachine } from '../../../src/machines/integration.ts';
import { deferred } from '../../support/deferred.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const closing = { message: 'gateway closed (1012)' };
const once = { retry: { maxAttempts: 1 } };

describe('the cause of an open circuit', () => {
  it('[O-9] is told as the circuit opens: kind, message and call of each failure that opened it', async () => {
    const { integration, clock, facts, seen } = startIntegration(once);
    for (let index = 0; index < 5; index++) {
      const outcome = integration.call('ask', { label: `ask ${index}` });
      await clock.advance(1000);
      seen.at(-1)?.reject(fault('transient', index === 4 ? closing : { message: `lost ${index}` }));
      await outcome;
    }
    const [opened] = facts.of('breaker.opened');
    expect(opened).toMatchObject({ kind: 'transient', cause: 'gateway closed (1012)' });
    expect(opened?.failures).toHaveLength(5);
    expect(opened?.failures?.[0]).toMatchObject({ kind: 'transient', message: 'lost 0', label: 'ask 0' });
    expect(opened?.failures?.map(({ call, attempt }) => `${call}/${attempt}`)).toEqual(
      facts.of('call.failed').map(({ call }) => `${call}/1`),
    );
    expect(opened?.failures?.map(({ at }) => at - clock.wallNow())).toEqual([-4000, -3000, -2000, -1000, 0]);
  });

  it('[O-9] is named in each refusal, with the time of the next try', async () => {
    const { integration, clock } = startIntegration(once, () => Promise.reject(fault('transient', closing)));
    for (let index = 0; index < 5; index++) await integration.call('ask');
    const refused = async (): Promise<string> => {
      const outcome = await integration.call('again');
      return outcome.ok ? '' : outcome.failure.message;
    };
    await clock.advance(18_001);
    expect(await refused()).toBe('The circuit of kb is open: gateway closed (1012); next try in 42 s');
    await clock.advance(999);
    expect(await refused()).toBe('The circuit of kb is open: gateway closed (1012); next try in 41 s');
  });

  it('[O-9] is named while another call tries the circuit, without a time that nobody knows', async () => {
    const { integration, clock, seen } = startIntegration(once);
    for (let index = 0; index < 5; index++) {
      const outcome = integration.call('ask');
      seen.at(-1)?.reject(fault('transient', closing));
      await outcome;
    }
    await clock.advance(60_000);
    void integration.call('probe');
    expect(await integration.call('again')).toMatchObject({
      failure: { message: 'The circuit of kb is open: gateway closed (1012); another call tries it now' },
    });
  });

  it('[O-9] [M-5] is named where calls that wait for their next attempt are ended', async () => {
    const { integration, facts } = startIntegration({ retry: { maxAttempts: 4 } }, () =>
      Promise.reject(fault('transient', closing)),
    );
    await Promise.all(Array.from({ length: 5 }, () => integration.call('ask')));
    const messages = facts.of('call.failed').map(({ failure }) => failure.message);
    expect(messages).toHaveLength(5);
    for (const message of messages) expect(message).toContain('gateway closed (1012)');
  });

  it('[O-9] is the failure of the probe that opened it again', async () => {
    const { integration, clock, facts, seen } = startIntegration(once);
    for (let index = 0; index < 6; index++) {
      const outcome = integration.call('ask');
      seen.at(-1)?.reject(fault('transient', index < 5 ? closing : { message: 'still closed' }));
      await outcome;
      if (index === 4) await clock.advance(60_000);
    }
    const [, again] = facts.of('breaker.opened');
    expect(again).toMatchObject({ cause: 'still closed', failures: [{ message: 'still closed' }] });
    expect(await integration.call('again')).toMatchObject({
      failure: { message: 'The circuit of kb is open: still closed; next try in 60 s' },
    });
  });

  it('[O-9] is the quota alone, whatever failed before', async () => {
    const { integration, facts, seen } = startIntegration(once);
    for (const kind of ['transient', 'quota'] as const) {
      const outcome = integration.call('ask');
      seen.at(-1)?.reject(fault(kind, { message: `a ${kind}` }));
      await outcome;
    }
    expect(facts.of('breaker.opened')).toMatchObject([{ cause: 'a quota', failures: [{ message: 'a quota' }] }]);
  });

  it('[O-9] leaves out failures that an answer has put an end to', async () => {
    const { integration, facts, seen } = startIntegration(once);
    for (let index = 0; index < 8; index++) {
      const outcome = integration.call('ask');
      if (index === 2) seen.at(-1)?.resolve('fine');
      else seen.at(-1)?.reject(fault('transient', { message: `lost ${index}` }));
      await outcome;
    }
    const [opened] = facts.of('breaker.opened');
    expect(opened?.failures?.map(({ message }) => message)).toEqual([3, 4, 5, 6, 7].map((index) => `lost ${index}`));
  });

  it('[O-9] keeps the last ten of more', async () => {
    const { integration, facts } = startIntegration(
      { ...once, breaker: { consecutiveFailures: 12, minimumAttempts: 50 } },
      () => Promise.reject(fault('transient', closing)),
    );
    for (let index = 0; index < 12; index++) await integration.call('ask');
    expect(facts.of('breaker.opened')[0]?.failures?.map(({ call }) => call)).toEqual(
      Array.from({ length: 10 }, (_, index) => `kb-${index + 3}`),
    );
  });

  it('[O-9] is one line without an end of its own, of a length that can be read', async () => {
    const { integration } = startIntegration({ ...once, breaker: { consecutiveFailures: 1 } }, () =>
      Promise.reject(fault('transient', { message: `the gateway\n  is closed. ${'x'.repeat(1000)}` })),
    );
    await integration.call('ask');
    const outcome = await integration.call('again');
    expect(outcome.ok ? '' : outcome.failure.message).toMatch(
      /^The circuit of kb is open: the gateway is closed\. x{277}; next try in 60 s$/,
    );
  });

  it('is not that of an isolation', async () => {
    const { integration, facts, clock } = startIntegration();
    integration.breaker.isolate();
    await clock.settle();
    expect(facts.of('breaker.opened')).toEqual([
      {
        ...{ type: 'breaker.opened', integration: 'kb', openForMs: Number.POSITIVE_INFINITY, kind: 'isolated' },
        rule: { name: 'isolated' },
      },
    ]);
  });

  it('[O-9] is forgotten when the circuit closes', async () => {
    const answer = deferred<string>();
    const { integration, facts } = startIntegration({ ...once, breaker: { consecutiveFailures: 1 } }, (input) =>
      input === 'fails' ? Promise.reject(fault('transient', closing)) : answer.promise,
    );
    await integration.call('fails');
    integration.breaker.reset();
    await integration.call('fails');
    expect(facts.of('breaker.opened').map(({ failures }) => failures?.length)).toEqual([1, 1]);
  });
});

describe('the rule that opened a circuit', () => {
  const breaker = { minimumAttempts: 4, failureRatio: 0.5 };

  /** Calls of which every second one fails, the first one not. */
  async function flap(calls: number, given: object = breaker) {
    let count = 0;
    const started = startIntegration({ ...once, breaker: given }, () =>
      ++count % 2 === 0 ? Promise.reject(fault('transient', closing)) : Promise.resolve('fine'),
    );
    for (let index = 0; index < calls; index++) await started.integration.call('ask');
    return started;
  }

  it('[O-9] is told with its figures: failures in a row', async () => {
    const { integration, facts } = startIntegration(once, () => Promise.reject(fault('transient', closing)));
    for (let index = 0; index < 5; index++) await integration.call('ask');
    expect(facts.of('breaker.opened')).toMatchObject([
      { rule: { name: 'consecutive_failures', failures: 5, limit: 5 } },
    ]);
  });

  it('[O-9] is told with its figures: the failure ratio, and the failures that it counted alone', async () => {
    const { facts } = await flap(4);
    const [opened] = facts.of('breaker.opened');
    expect(opened?.rule).toEqual({ name: 'failure_ratio', failures: 2, attempts: 4, limit: 0.5 });
    expect(opened?.failures?.map(({ call }) => call)).toEqual(['kb-2', 'kb-4']);
  });

  it('[O-9] is in the refusal where it is the ratio, which surprises a caller whose other calls went well', async () => {
    const { integration } = await flap(4);
    expect(await integration.call('again')).toMatchObject({
      failure: {
        message:
          'The circuit of kb is open (2 of the last 4 attempts failed, failureRatio 0.5): gateway closed (1012); next try in 60 s',
      },
    });
  });

  it('[O-9] is the probe where that failed, and is forgotten as the circuit closes', async () => {
    const { integration, clock, facts, path } = startIntegration({ ...once, breaker: { consecutiveFailures: 1 } }, () =>
      Promise.reject(fault('transient', closing)),
    );
    await integration.call('ask');
    await clock.advance(60_000);
    await integration.call('ask');
    expect(facts.of('breaker.opened').map(({ rule }) => rule?.name)).toEqual(['consecutive_failures', 'failed_probe']);
    expect(path.link.rule).toEqual({
      name: 'failed_probe',
      first: { name: 'consecutive_failures', failures: 1, limit: 1 },
    });
    integration.breaker.reset();
    expect(path.link.rule).toBeUndefined();
  });

  it('[O-9] is the quota', async () => {
    const { integration, facts } = startIntegration(once, () => Promise.reject(fault('quota')));
    await integration.call('ask');
    expect(facts.of('breaker.opened')).toMatchObject([{ kind: 'quota', rule: { name: 'quota' } }]);
  });

  it('[O-9] [M-10] is that of the process that opened it, in the machine and in the news of it', () => {
    const { clock, path, facts } = startIntegration();
    const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
    const cause = { kind: 'transient', message: 'HTTP 503', rule, failures: [] } as const;
    path.adopt({ circuit: { openUntil: clock.now() + 5000, openings: 1, cause } });
    expect(path.link.rule).toEqual(rule);
    expect(facts.of('breaker.adopted')).toMatchObject([{ state: 'open', cause: 'HTTP 503', rule }]);
  });

  it('[O-9] [M-10] is in the machine of a later process', () => {
    const rule = { name: 'quota' } as const;
    const cause = { kind: 'quota', message: 'spent', rule, failures: [] } as const;
    const { clock, path, ref } = startIntegration();
    expect(path.link.rule).toBeUndefined();
    ref.stop();
    const later = createActor(integrationMachine, { input: { name: 'kb', breaker: path.policy.breaker } });
    path.attach(later, { open: { openUntil: clock.now() + 5000, openings: 1, cause } });
    expect([path.link.rule, path.openedBy]).toEqual([rule, cause]);
  });

  it('[M-4] is never the ratio where that is 1: every second call may fail for ever', async () => {
    const { integration, facts } = await flap(200, { failureRatio: 1 });
    expect([integration.breaker.state, facts.of('breaker.opened')]).toEqual(['closed', []]);
  });
});
