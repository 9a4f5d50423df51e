import { describe, expect, it } from 'vitest';
import { deferred } from '../support/deferred.ts';
import { startIntegration } from '../support/startIntegration.ts';

/** A native promise whose `then` is somebody else's, and calls back twice. */
function answeringTwice(value: string): Promise<string> {
  const then = (done: (value: string) => void): void => {
    done(value);
    done(value);
  };
  return Object.assign(Promise.resolve(value), { then }) as Promise<string>;
}

describe('an attempt', () => {
  it('[M-9] frees its permit once, though its promise calls back twice', async () => {
    const inputs: string[] = [];
    const { integration, facts } = startIntegration({ maxInFlight: 1 }, (input) => {
      inputs.push(input);
      return input === 'odd' ? answeringTwice('twice') : new Promise(() => undefined);
    });
    expect(await integration.call('odd')).toEqual({ ok: true, value: 'twice' });
    for (const input of ['a', 'b']) void integration.call(input);
    expect(inputs).toEqual(['odd', 'a']);
    expect(facts.of('call.late')).toEqual([]);
  });

  it('[I-1] [I-4] that answered ends its call once, though the next one with its permit aborts it', async () => {
    const controller = new AbortController();
    const first = deferred<string>();
    const { integration, facts } = startIntegration({ maxInFlight: 1, queueLength: 1 }, (input) => {
      if (input === 'first') return first.promise;
      controller.abort();
      return 'next';
    });
    const outcome = integration.call('first', { signal: controller.signal });
    void integration.call('next');
    first.resolve('answer');
    expect(await outcome).toEqual({ ok: true, value: 'answer' });
    expect(facts.of('call.failed')).toEqual([]);
  });
});
