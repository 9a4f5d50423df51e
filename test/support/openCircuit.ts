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
