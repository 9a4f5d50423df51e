import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { FactType } from '../../src/policy/facts/facts.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { deferred } from '../support/deferred.ts';
import { RecordedFacts } from '../support/facts.ts';
import { fault, type Started, startIntegration } from '../support/startIntegration.ts';

/** Facts of a gateway in which nobody listens to the states of integrations: the machine is left `calling` for a moment. */
class UnheardFacts extends RecordedFacts {
  override wants(type?: FactType): boolean {
    return type !== 'integration.changed';
  }
}

type Operate = NonNullable<Parameters<typeof startIntegration>[1]>;
type Extra = Parameters<typeof startIntegration>[2];

/** An integration that was called before, so that what it is called for next is plain. */
async function startWarm(operation: Operate, policy: PolicyInput = {}, extra: Extra = {}): Promise<Started> {
  const started = startIntegration({ maxInFlight: 1000, ...policy }, operation, {
    facts: new UnheardFacts(),
    ...extra,
  });
  await started.clock.settle();
  await started.integration.call('warm');
  return started;
}

const values = (calls: readonly Promise<unknown>[]): Promise<unknown[]> => Promise.all(calls);

describe('the work of plain calls', () => {
  it('[I-1] is heard for its own call, many in turn and at once', async () => {
    const { integration } = await startWarm((input) =>
      input.includes('odd') ? Promise.reject(fault('permanent', { message: input })) : Promise.resolve(input),
    );
    for (let round = 0; round < 3; round++) {
      const inputs = Array.from({ length: 100 }, (_, index) => `${round} ${index} ${index % 2 === 0 ? 'even' : 'odd'}`);
      const outcomes = await values(inputs.map((input) => integration.call(input)));
      expect(outcomes).toMatchObject(
        inputs.map((input) =>
          input.endsWith('even') ? { ok: true, value: input } : { ok: false, failure: { message: input } },
        ),
      );
    }
  });

  it('[I-1] counts once that calls back twice, and says nothing for the call that comes after', async () => {
    let again: (value: string) => void = () => undefined;
    const { integration, path } = await startWarm((input) => {
      if (input !== 'odd') return input === 'hang' ? new Promise(() => undefined) : input;
      const then = (done: (value: string) => void): void => {
        again = done;
        done('first');
      };
      return Object.assign(Promise.resolve('odd'), { then }) as Promise<string>;
    });
    expect(await integration.call('odd')).toEqual({ ok: true, value: 'first' });
    void integration.call('hang');
    again('again');
    expect(path.stats).toMatchObject({ attempts: 1, succeeded: 2, late: 0 });
  });

  it('[I-1] is asked for its `then` and taken for no other: one that changes says nothing for the call after', async () => {
    const own = (done: (value: string) => void): void => {
      done('first');
      done('again');
    };
    let asked = 0;
    const odd = Object.defineProperty(Promise.resolve('odd'), 'then', {
      get: () => (asked++ < 2 ? Reflect.get(Promise.prototype, 'then') : own) as unknown,
    });
    const { integration, path } = await startWarm((input) => (input === 'odd' ? odd : input));
    expect(await integration.call('odd')).toEqual({ ok: true, value: 'odd' });
    expect(path.stats).toMatchObject({ attempts: 0, succeeded: 2 });
  });

  it('[I-1] may be a value whose `then` throws when it is read', async () => {
    const odd = Object.defineProperty({}, 'then', {
      get() {
        throw fault('permanent');
      },
    }) as string;
    const { integration } = await startWarm((input) => (input === 'odd' ? odd : input));
    expect(await integration.call('odd')).toMatchObject({ ok: false, failure: { kind: 'permanent' } });
  });
});

describe('a plain call that is answered', () => {
  it('[R-8] leaves no listener on the signal of its caller', async () => {
    const work = deferred<string>();
    const { integration } = await startWarm((input) => (input === 'later' ? work.promise : input));
    const { signal } = new AbortController();
    const outcome = integration.call('later', { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    work.resolve('fine');
    expect(await outcome).toEqual({ ok: true, value: 'fine' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('[M-4] ends no row of failures of a circuit that has opened and closed since it began', async () => {
    const work = deferred<string>();
    const { integration } = await startWarm(
      (input) => (input === 'later' ? work.promise : Promise.reject(fault('permanent', { breaker: 'failure' }))),
      { breaker: { consecutiveFailures: 2 }, retry: { maxAttempts: 1 } },
    );
    void integration.call('later');
    integration.breaker.isolate()();
    await integration.call('fails');
    work.resolve('of the circuit before');
    await work.promise;
    await integration.call('fails');
    expect(integration.breaker.state).toBe('open');
  });

  it('[M-15] is an answer of its tool, whose failures began after it did', async () => {
    const work = deferred<string>();
    const hang = new Promise<string>(() => undefined);
    const { integration, clock } = await startWarm(
      (input) => (input === 'later' ? work.promise : input === 'hang' ? hang : input),
      { breaker: { consecutiveFailures: 2 }, limits: { idleMs: 1000 }, retry: { maxAttempts: 1 } },
      { toolOf: (input) => (input === 'ask' || input === 'warm' ? undefined : 'tool') },
    );
    void integration.call('hang');
    await clock.advance(500);
    void integration.call('later');
    await integration.call('ask');
    await clock.advance(600);
    work.resolve('fine');
    await clock.settle();
    void integration.call('hang');
    await clock.advance(100);
    await integration.call('ask');
    await clock.advance(1000);
    expect(integration.breaker.of('tool').state).toBe('closed');
  });

  it('[P-1] is a sign of life: callers whose own limits passed before it make no server suspect after it', async () => {
    let asked = 0;
    const hang = new Promise<string>(() => undefined);
    const { integration, clock } = await startWarm(
      (input) => (input === 'hang' ? hang : input),
      { limits: { idleMs: 1000, attemptMs: 60_000, overallMs: 60_000 } },
      { onSilence: () => ((asked += 1), new Promise(() => undefined)) },
    );
    void integration.call('hang', { overallMs: 500 });
    await clock.advance(600);
    void integration.call('hang');
    await integration.call('answers');
    await clock.advance(100);
    void integration.call('hang', { overallMs: 500 });
    await clock.advance(550);
    expect(asked).toBe(0);
  });
});
