import { describe, expect, it } from 'vitest';
import type { FactType } from '../../src/policy/facts.ts';
import { RecordedFacts } from '../support/facts.ts';
import { fault, type Started, startIntegration } from '../support/startIntegration.ts';

/** Facts of a gateway in which nobody listens to the states of integrations: the machine is left `calling` for a moment. */
class UnheardFacts extends RecordedFacts {
  override wants(type?: FactType): boolean {
    return type !== 'integration.changed';
  }
}

type Operate = NonNullable<Parameters<typeof startIntegration>[1]>;

/** An integration that was called before, so that what it is called for next is plain. */
async function startWarm(operation: Operate): Promise<Started> {
  const started = startIntegration({ maxInFlight: 1000 }, operation, { facts: new UnheardFacts() });
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
