import { fault, type Started } from './startIntegration.ts';

/** Opens the circuit of a usual breaker by five calls that fail. */
export async function openCircuit({
  integration,
  clock,
  seen,
}: Pick<Started, 'integration' | 'clock' | 'seen'>): Promise<void> {
  for (let index = 0; index < 5; index++) {
    const outcome = integration.call('fails', { maxAttempts: 1 });
    seen.at(-1)?.reject(fault('transient'));
    await outcome;
  }
  await clock.settle();
}

/** Has the probe of an open circuit, due by now, answered by a wish not to be called for 20 s. @returns the call that was the probe. */
export async function pauseByProbe(started: Pick<Started, 'integration' | 'clock' | 'seen'>) {
  const { integration, clock, seen } = started;
  await openCircuit(started);
  await clock.advance(60_000);
  const probe = integration.call('probe');
  seen.at(-1)?.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
  return probe;
}
