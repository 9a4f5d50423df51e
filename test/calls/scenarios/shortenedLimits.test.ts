import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../../src/calls/callOptions.ts';
import { startIntegration } from '../../support/startIntegration.ts';

const limits = { idleMs: 3000, attemptMs: 10_000, overallMs: 20_000 };
const policy = { limits, retry: { maxAttempts: 1 } };

type Limit = Pick<CallOptions<string, string>, 'idleMs' | 'attemptMs' | 'overallMs'>;

/** Five calls, one after the other, none of which is answered; and what the breaker makes of it. */
async function circuitAfter(options: Limit): Promise<string> {
  const { integration, clock } = startIntegration(policy);
  for (let index = 0; index < 5; index++) {
    const outcome = integration.call('hangs', options);
    await clock.advance(20_000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'timeout' } });
  }
  return integration.breaker.state;
}

describe('a limit that the caller gave', () => {
  it.each<Limit>([{ overallMs: 500 }, { attemptMs: 500 }, { idleMs: 500 }, { idleMs: 2999 }])(
    '[M-4] is ignored by the breaker where it is shorter than that of the integration: %o',
    async (options) => {
      expect(await circuitAfter(options)).toBe('closed');
    },
  );

  it.each<Limit>([{}, { idleMs: 3000 }, { overallMs: 500_000 }, { overallMs: 4000 }, { idleMs: 20_000 }])(
    '[M-4] counts where the limit of the integration passes all the same: %o',
    async (options) => {
      expect(await circuitAfter(options)).toBe('open');
    },
  );

  it('[M-4] leaves a healthy integration to the others', async () => {
    const { integration, clock, seen } = startIntegration(policy);
    for (let index = 0; index < 5; index++) {
      const outcome = integration.call('takes 2 s', { overallMs: 500 });
      await clock.advance(500);
      await outcome;
    }
    const patient = integration.call('takes 2 s');
    await clock.advance(2000);
    seen.at(-1)?.resolve('fine');
    expect(await patient).toEqual({ ok: true, value: 'fine' });
  });

  it('[M-3] gives back the turn of a probe, which neither closes nor opens the circuit', async () => {
    const { integration, clock } = startIntegration({ ...policy, breaker: { consecutiveFailures: 1 } });
    void integration.call('hangs');
    await clock.advance(63_000);
    const impatient = integration.call('hangs', { overallMs: 500 });
    expect(integration.state).toBe('half-open');
    await clock.advance(500);
    await impatient;
    expect(integration.state).toBe('half-open');
    void integration.call('is the next probe');
    expect(integration.stats.attempts).toBe(1);
  });

  it('[P-1] has nobody suspected of a hang, until no work has ended by itself for the idle limit of the integration', async () => {
    let inquiries = 0;
    const onSilence = (): Promise<boolean> => {
      inquiries++;
      return Promise.resolve(true);
    };
    const { integration, clock, seen } = startIntegration(policy, undefined, { onSilence });
    const impatient = async (): Promise<number> => {
      void integration.call('hangs', { overallMs: 500 });
      await clock.advance(500);
      return inquiries;
    };
    for (let index = 0; index < 5; index++) expect(await impatient()).toBe(0);
    // Work that was given up, and ended by itself all the same.
    seen[0]?.resolve('late');
    await clock.settle();
    for (let index = 0; index < 5; index++) expect(await impatient()).toBe(0);
    expect(await impatient()).toBe(1);
    expect(integration.breaker.state).toBe('closed');
  });
});
