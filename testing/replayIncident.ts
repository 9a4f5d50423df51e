import type { ReplayResult } from '../incident/replay/compare.ts';
import { seededRandom } from './random.ts';
import { SimulatedClock } from './simulatedClock.ts';

/** Changes in a replay. */
export interface ReplayIncidentOptions {
  /** Options that are to be otherwise than they were, such as `retry.maxAttempts=5`, for every integration. @defaultValue nothing */
  readonly policy?: readonly string[] | undefined;
}

/**
 * Plays an incident that `unwedge incident` wrote, on a simulated clock: a test of what happened once. Real time does not pass.
 * Rejects with an Error that names the file where it is no incident, and with TypeError or RangeError where an option of the policy is wrong or
 * nothing in it can be played.
 * @param path - of its folder, or of the one file of the dashboard.
 *
 * @example
 * const { isSame, first } = await replayIncident('test/incidents/kb-12');
 * expect(first).toBeUndefined();
 */
export async function replayIncident(path: string, { policy }: ReplayIncidentOptions = {}): Promise<ReplayResult> {
  // A test that plays none loads no gateway.
  const [{ readIncident }, { replay }] = await Promise.all([
    import('../incident/readIncident.ts'),
    import('../incident/replay/replay.ts'),
  ]);
  return replay(readIncident(path), { clock: new SimulatedClock(), random: seededRandom(1), policy });
}
