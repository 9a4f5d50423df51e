import { describe, expect, it } from 'vitest';
import { type CallSettings, defaultSettings } from '../../../src/calls/callOptions.ts';
import type { Call } from '../../../src/calls/call.ts';
import { whyOf } from '../../../src/calls/callWhy.ts';
import type { Outcome } from '../../../src/policy/failures/failure.ts';
import type { OrderResult } from '../../../src/policy/operatorOrder.ts';
import { openCircuit, pauseByProbe } from '../../support/openCircuit.ts';
import { startRated } from '../../support/rates.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';

interface Made {
  readonly call: Call<string, string>;
  readonly outcomes: Outcome<string>[];
}

const make = ({ path }: Started, input: string, settings: Partial<CallSettings<string, string>> = {}): Made => {
  const outcomes: Outcome<string>[] = [];
  const call = path.start(input, { ...defaultSettings(path.policy, undefined), ...settings }, (outcome) =>
    outcomes.push(outcome),
  );
  return { call, outcomes };
};

/** Has the rule act that a call meets next. */
const fire = ({ path }: Started, { call }: Made, told: string[] = []): OrderResult =>
  path.fire(call, path.why(call)?.next.id ?? '', () => void told.push('fired'));

/** What is told, without what depends on when it happened. */
const toldBy = ({ facts }: Started): unknown[] => facts.all.filter(({ type }) => type !== 'call.pending').map(plain);

/** Without its times and its words. */
const plain = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data, (key, value: unknown) => (differing.has(key) ? 'some' : value)));

const differing = new Set(['elapsedMs', 'at', 'message', 'reason', 'stack', 'limit']);

const limits = { idleMs: 5000, attemptMs: 8000, overallMs: 60_000 };

/** Each brings a call into a wait, the same way each time. */
const waits: Readonly<Record<string, (started: Started) => Promise<Made>>> = {
  'the idle limit of an attempt': async (started) => make(started, 'a', limits),
  'the limit of an attempt': async (started) => make(started, 'a', { ...limits, idleMs: 20_000 }),
  'the overall limit of a call with an attempt in flight': async (started) =>
    make(started, 'a', { idleMs: 20_000, attemptMs: 20_000, overallMs: 9000, effect: 'readOnly' }),
  'the limit of the last attempt': async (started) =>
    make(started, 'a', { ...limits, retry: { ...started.path.policy.retry, maxAttempts: 1 } }),
  'a backoff': async (started) => {
    const made = make(started, 'a', { ...limits, effect: 'readOnly' });
    started.attempt(0).reject(fault('transient'));
    await started.clock.settle();
    return made;
  },
  'the overall limit of a call that waits for a permit': async (started) => {
    make(started, 'first', { idleMs: 90_000, attemptMs: 90_000, overallMs: 90_000 });
    return make(started, 'a', limits);
  },
  'a wait for a restart': async (started) => {
    started.path.crashed({ kind: 'crash', message: 'gone', outcome: 'unknown' });
    return make(started, 'a', limits);
  },
};

describe('a rule that is fired', () => {
  it.each(Object.keys(waits))('[O-13] ends %s exactly as it does by itself', async (name) => {
    const wait = waits[name] as (typeof waits)[string];
    const policy = { maxInFlight: 1, queueLength: 5 };
    const [byItself, fired] = [startIntegration(policy), startIntegration(policy)];
    const natural = await wait(byItself);
    const inMs = whyOf(natural.call, byItself.clock)?.next.inMs ?? 0;
    expect(inMs).toBeGreaterThan(0);
    await byItself.clock.advance(inMs);

    const ordered = await wait(fired);
    const told: string[] = [];
    expect(fire(fired, ordered, told)).toMatchObject({ ok: true });
    await fired.clock.settle();
    expect(told).toEqual(['fired']);
    expect(plain(ordered.outcomes)).toEqual(plain(natural.outcomes));
    expect(ordered.call.attempts).toBe(natural.call.attempts);
    expect(ordered.call.waiting).toBe(natural.call.waiting);
    expect(fired.path.stats).toEqual(byItself.path.stats);
    expect(fired.integration.state).toBe(byItself.integration.state);
    expect(toldBy(fired)).toEqual(toldBy(byItself));
  });

  it.each([
    ['the idle limit of an attempt', 'The idle limit of 5s was fired by an operator (anna): the vendor is down'],
    ['the limit of an attempt', 'The attempt limit of 8s was fired by an operator (anna): the vendor is down'],
    [
      'the overall limit of a call that waits for a permit',
      'Not started; the overall limit was fired by an operator (anna): the vendor is down',
    ],
    [
      'a wait for a restart',
      'kb is down and has not come back yet: gone; the wait for a restart was fired by an operator (anna): the vendor is down',
    ],
  ])(
    '[O-13] ends %s with a failure that says who fired it and why, and claims no time that has passed',
    async (name, message) => {
      const wait = waits[name] as (typeof waits)[string];
      const started = startIntegration({ maxInFlight: 1, queueLength: 5, retry: { maxAttempts: 1 } });
      const made = await wait(started);
      const rule = whyOf(made.call, started.clock)?.next.id ?? '';
      started.path.fire(made.call, rule, () => undefined, { by: 'anna', why: 'the vendor is down' });
      await started.clock.settle();
      expect(made.outcomes).toMatchObject([{ ok: false, failure: { message } }]);
      const [outcome] = made.outcomes;
      const reason = outcome?.ok === false ? outcome.failure.reason : undefined;
      expect(reason).toBe(name === 'a wait for a restart' ? undefined : 'by_operator');
    },
  );

  it('[O-13] acts once, and its own time finds nothing left to end', async () => {
    const started = startIntegration();
    const made = make(started, 'a', { ...limits, retry: { ...started.path.policy.retry, maxAttempts: 1 } });
    fire(started, made);
    await started.clock.advance(120_000);
    expect(made.outcomes).toHaveLength(1);
    expect(started.facts.of('call.failed')).toHaveLength(1);
    expect(started.deadlines.size).toBe(0);
  });

  it('[O-13] is refused, and nothing told, where the rule was another one', async () => {
    const started = startIntegration();
    const made = make(started, 'a', { ...limits, effect: 'readOnly' });
    const shown = whyOf(made.call, started.clock)?.next.id ?? '';
    started.attempt(0).reject(fault('transient'));
    await started.clock.settle();
    const told: string[] = [];
    const refused = started.path.fire(made.call, shown, () => void told.push('fired'));
    expect(refused).toEqual({ ok: false, text: 'Something else comes next by now: next_attempt.' });
    expect(told).toEqual([]);
    expect(made.call.waiting).toBe('backoff');
  });

  it('[O-13] of an attempt that was followed by another is not that of the next attempt', async () => {
    const started = startIntegration();
    const made = make(started, 'a', { ...limits, effect: 'readOnly' });
    const shown = whyOf(made.call, started.clock)?.next.id ?? '';
    started.attempt(0).reject(fault('transient'));
    await started.clock.advance(1000);
    expect(whyOf(made.call, started.clock)).toMatchObject({ phase: 'in_flight', attempt: 2 });
    expect(started.path.fire(made.call, shown, () => undefined)).toMatchObject({ ok: false });
  });

  it('[O-13] is refused for a call that has ended, also at the same instant', async () => {
    const started = startIntegration();
    const made = make(started, 'a', limits);
    const shown = whyOf(made.call, started.clock)?.next.id ?? '';
    // Its own time has come first.
    await started.clock.advance(limits.idleMs);
    const again = make(started, 'b', limits);
    const other = started.path.fire(again.call, whyOf(again.call, started.clock)?.next.id ?? '', () =>
      started.path.end(again.call, { kind: 'cancelled', message: 'ended', outcome: 'cancelled' }),
    );
    expect(other).toEqual({ ok: false, text: 'It ended at the same moment.' });
    expect(started.path.fire(made.call, shown, () => undefined)).toEqual({ ok: false, text: 'The call has ended.' });
    expect([made.outcomes.length, again.outcomes.length]).toEqual([1, 1]);
  });

  it('[O-13] lets a call go that waits for its rate limit, which then owes the others more', async () => {
    const started = startRated({ requests: 1, perMs: 60_000 });
    make(started, 'a');
    const settings = { rate: undefined, overallMs: 600_000 };
    const waiting = make(started, 'b', settings);
    const behind = make(started, 'c', settings);
    await started.clock.settle();
    expect(whyOf(waiting.call, started.clock)).toMatchObject({ phase: 'rate', next: { rule: 'rate_limit' } });
    expect(fire(started, waiting)).toEqual({ ok: true, text: 'Done.' });
    expect(started.seen.map(({ input }) => input)).toEqual(['a', 'b']);
    await started.clock.advance(119_000);
    expect(behind.call.waiting).toBe('rate');
    await started.clock.advance(61_000);
    expect(started.seen.map(({ input }) => input)).toEqual(['a', 'b', 'c']);
  });

  it('[O-13] asks the server of a silent call, where that is what its silence leads to', async () => {
    let asked = 0;
    const started = startIntegration({}, undefined, {
      whenAlive: 'wait',
      onSilence: () => {
        asked++;
        return Promise.resolve(true);
      },
    });
    const made = make(started, 'a', limits);
    await started.clock.advance(1000);
    fire(started, made);
    await started.clock.settle();
    expect(asked).toBe(1);
    expect(made.outcomes).toEqual([]);
    expect(started.path.why(made.call)).toMatchObject({ phase: 'in_flight', next: { rule: 'ping', inMs: 5000 } });
  });
});

describe('a call that is not tried again', () => {
  const settings = { ...limits, effect: 'readOnly' as const };

  it('[O-13] ends as the attempt in flight does, well or not', async () => {
    for (const end of ['resolve', 'reject'] as const) {
      const started = startIntegration();
      const made = make(started, 'a', settings);
      expect(started.path.stopRetrying(made.call, () => undefined)).toMatchObject({ ok: true });
      expect(whyOf(made.call, started.clock)).toMatchObject({ attempt: 1, maxAttempts: 1 });
      expect(made.outcomes).toEqual([]);
      if (end === 'resolve') started.attempt(0).resolve('found');
      else started.attempt(0).reject(fault('transient'));
      await started.clock.advance(120_000);
      expect(started.seen).toHaveLength(1);
      const ended = end === 'resolve' ? { ok: true, value: 'found' } : { failure: { kind: 'transient', attempts: 1 } };
      expect(made.outcomes).toMatchObject([ended]);
    }
  });

  it('[O-13] ends at once with its last failure while it waits for its next attempt', async () => {
    const started = startIntegration();
    const made = make(started, 'a', settings);
    started.attempt(0).reject(fault('transient'));
    await started.clock.settle();
    expect(started.path.stopRetrying(made.call, () => undefined)).toMatchObject({ ok: true });
    expect(made.outcomes).toMatchObject([{ ok: false, failure: { kind: 'transient', attempts: 1 } }]);
    await started.clock.advance(120_000);
    expect(started.seen).toHaveLength(1);
    expect(started.path.stats).toMatchObject({ attempts: 0, waiting: 0, failed: 1 });
    expect(started.deadlines.size).toBe(0);
  });

  it('[O-13] ends with the crash that takes its attempt, and waits for no restart', async () => {
    const started = startIntegration();
    const made = make(started, 'a', settings);
    started.path.stopRetrying(made.call, () => undefined);
    started.path.crashed({ kind: 'crash', message: 'gone', outcome: 'unknown' });
    expect(made.outcomes).toMatchObject([{ failure: { kind: 'crash', message: 'gone' } }]);
  });

  it('[O-13] is refused where it could not be tried again anyway, or was not tried yet', async () => {
    const started = startIntegration({ maxInFlight: 1, queueLength: 5 });
    const told: string[] = [];
    const announce = (): void => void told.push('told');
    const last = make(started, 'a', { ...settings, retry: { ...started.path.policy.retry, maxAttempts: 1 } });
    const waiting = make(started, 'b', settings);
    expect(started.path.stopRetrying(last.call, announce).text).toBe('No further attempt follows anyway.');
    expect(started.path.stopRetrying(waiting.call, announce).text).toContain('has not been tried yet');
    started.attempt(0).resolve('done');
    await started.clock.settle();
    expect(started.path.stopRetrying(last.call, announce).text).toBe('The call has ended.');
    expect(told).toEqual([]);
  });
});

describe('a probe that is ordered', () => {
  const note = { by: 'anna', why: 'it is mended' };

  it('[O-13] lets the next call through to an open circuit, and closes it where that is answered', async () => {
    const started = startIntegration();
    await openCircuit(started);
    const { integration, seen, clock, facts } = started;
    expect(integration.breaker.probe(note)).toEqual({
      ok: true,
      text: 'The next call of kb is let through as the probe.',
    });
    expect(facts.of('operator.probed')).toEqual([
      { type: 'operator.probed', integration: 'kb', how: 'next_call', ...note },
    ]);
    const probe = integration.call('probe');
    const second = integration.call('second');
    expect(seen.at(-1)?.input).toBe('probe');
    expect(await second).toMatchObject({ failure: { kind: 'circuit_open' } });
    seen.at(-1)?.resolve('answer');
    expect(await probe).toMatchObject({ ok: true });
    await clock.settle();
    expect(integration.breaker.state).toBe('closed');
  });

  it('[O-13] opens the circuit again where it fails', async () => {
    const started = startIntegration();
    await openCircuit(started);
    const { integration, seen, facts } = started;
    await started.clock.advance(50_000);
    integration.breaker.probe();
    const probe = integration.call('probe', { maxAttempts: 1 });
    seen.at(-1)?.reject(fault('transient'));
    await probe;
    expect(integration.breaker.state).toBe('open');
    expect(facts.of('breaker.opened')).toHaveLength(2);
    await started.clock.advance(50_000);
    expect(await integration.call('too early')).toMatchObject({ failure: { kind: 'circuit_open' } });
  });

  it('[O-13] sends the harmless probe of an integration that has one, at once and one at a time', async () => {
    let answer: (value: unknown) => void = () => undefined;
    let probes = 0;
    const probe = (): Promise<unknown> => {
      probes++;
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    const started = startIntegration({}, undefined, { probe });
    await openCircuit(started);
    const { integration, clock } = started;
    expect(integration.breaker.probe()).toEqual({ ok: true, text: 'kb is probed now.' });
    expect(integration.breaker.probe()).toEqual({
      ok: false,
      text: 'kb is being tried already: one probe at a time.',
    });
    expect(probes).toBe(1);
    answer({});
    await clock.settle();
    expect(integration.breaker.state).toBe('closed');
  });

  it('[O-13] leaves the probe to another process that has it', async () => {
    let claims = 0;
    const started = startIntegration({}, undefined, {
      probe: () => new Promise(() => undefined),
      claimProbe: () => {
        claims++;
        return false;
      },
    });
    await openCircuit(started);
    expect(started.integration.breaker.probe().text).toContain('Another process tries kb');
    expect(claims).toBe(1);
    expect(started.facts.of('operator.probed')).toEqual([]);
    expect(started.integration.breaker.state).toBe('open');
  });

  it('[O-13] is refused where there is nothing to probe, or a probe is not what helps', async () => {
    const started = startIntegration();
    const { integration, path } = started;
    expect(integration.breaker.probe().text).toBe('The circuit of kb is closed: there is nothing to probe.');
    integration.breaker.isolate();
    expect(integration.breaker.probe().text).toContain('held open by an operator');
    integration.breaker.reset();
    path.crashed({ kind: 'crash', message: 'gone', outcome: 'unknown' });
    expect(integration.breaker.probe().text).toContain('is down');
    path.stop();
    expect(integration.breaker.probe().text).toBe('kb is stopped.');
    expect(started.facts.of('operator.probed')).toEqual([]);
  });

  /** A server that asked not to be called for 20 s, and two calls that wait for the end of that. */
  async function paused(extra: Parameters<typeof startIntegration>[2] = {}) {
    const started = startIntegration({}, undefined, extra);
    void started.integration.call('throttled', { maxAttempts: 1 });
    started.attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await started.clock.settle();
    return { ...started, started };
  }

  it('[O-13] lets one call through to a server that asked not to be called; answered, the others follow', async () => {
    const released: string[] = [];
    const { started, integration, seen, clock } = await paused({
      claimProbe: () => true,
      releaseProbe: () => void released.push('released'),
    });
    const [first, second] = [make(started, 'first'), make(started, 'second')];
    expect(integration.breaker.probe()).toEqual({
      ok: true,
      text: 'A waiting call of kb is let through as the probe.',
    });
    expect(integration.breaker.probe()).toMatchObject({ ok: false });
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'first']);
    expect(second.call.waiting).toBe('pause');
    seen.at(-1)?.resolve('answer');
    await clock.settle();
    expect(first.outcomes).toMatchObject([{ ok: true }]);
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'first', 'second']);
    expect(released).toEqual(['released']);
  });

  it('[O-13] lets the next call through where none waits, and no second one', async () => {
    const { started, integration, seen } = await paused();
    expect(integration.breaker.probe()).toMatchObject({ text: 'The next call of kb is let through as the probe.' });
    make(started, 'first');
    const second = make(started, 'second');
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'first']);
    expect(second.call.waiting).toBe('pause');
  });

  it('[O-13] leaves the pause as it is where it fails, and may be ordered again', async () => {
    const { started, integration, seen, clock } = await paused();
    const first = make(started, 'first', { retry: { ...started.path.policy.retry, maxAttempts: 1 } });
    const second = make(started, 'second');
    integration.breaker.probe();
    seen.at(-1)?.reject(fault('transient'));
    await clock.settle();
    expect(first.outcomes).toHaveLength(1);
    expect(second.call.waiting).toBe('pause');
    expect(integration.breaker.probe()).toMatchObject({ ok: true });
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'first', 'second']);
  });

  it('[O-13] is what a call becomes whose wait for the end of a pause is fired', async () => {
    const { started, seen } = await paused();
    const first = make(started, 'first');
    const second = make(started, 'second');
    expect(whyOf(second.call, started.clock)?.next).toMatchObject({ id: '0:pause', rule: 'next_attempt' });
    expect(fire(started, second)).toMatchObject({ ok: true });
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'second']);
    expect(fire(started, first)).toEqual({ ok: false, text: 'kb is being tried already: one probe at a time.' });
  });

  it('[O-13] [M-13] lets one call through where the server answered a probe by asking for a pause', async () => {
    const started = startIntegration();
    const { integration, seen } = started;
    await pauseByProbe(started);
    expect(integration.breaker.probe()).toMatchObject({ ok: true });
    const made = [integration.call('tries it'), integration.call('refused')];
    expect(await made[1]).toMatchObject({ failure: { kind: 'circuit_open' } });
    seen.at(-1)?.resolve('answer');
    expect(await made[0]).toMatchObject({ ok: true });
    expect(integration.breaker.state).toBe('closed');
  });

  it('[O-13] is forgotten when no call came for as long as a probe may take', async () => {
    const started = startIntegration({ limits: { attemptMs: 5000 }, breaker: { probeLeaseGraceMs: 1000 } });
    void started.integration.call('throttled', { maxAttempts: 1 });
    started.attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 60_000 }));
    await started.clock.settle();
    started.integration.breaker.probe();
    await started.clock.advance(6000);
    const late = make(started, 'late', { overallMs: 600_000 });
    expect(late.call.waiting).toBe('pause');
  });
});
