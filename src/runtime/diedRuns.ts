import type { ProcessWorld } from '../actors/process/processWorld.ts';
import { formatSeconds } from '../policy/duration.ts';
import type { FactOf } from '../policy/facts.ts';
import type { RuntimeRow } from '../store/runtimes.ts';
import type { Runtime } from './runtime.ts';

const ofRun = 'unwedge run ';

/** What the runtime of an `unwedge run` calls itself. */
export const nameOfRun = (integration: string): string => `${ofRun}${integration}`;

/** The integration of a run by what its runtime calls itself; undefined for other runtimes. */
export const integrationOfRun = (runtime: string): string | undefined =>
  runtime.startsWith(ofRun) ? runtime.slice(ofRun.length) : undefined;

/**
 * Takes the runtimes off the store whose process is gone. Of a run that died nobody else is left to tell: its call gets its final record here,
 * in the same commit, so that of several which look one alone does. Never rejects.
 */
export async function takeOffDied(
  { clock, bus, statistics, store }: Pick<Runtime, 'clock' | 'bus' | 'statistics' | 'store'>,
  world: ProcessWorld,
): Promise<void> {
  const died = (await store()?.runtimes.removeDead(world, clock.wallNow(), diedFact)) ?? [];
  for (const fact of died.map(diedFact)) {
    if (fact === undefined) continue;
    statistics.of(fact.integration).failed(fact.failure.kind);
    bus.tell(fact, true);
  }
}

/** The final record of the call of a run that died; undefined for other runtimes, whose calls belong to their sessions and clients. */
export function diedFact({ id, name, pid, startedAt, renewedAt }: RuntimeRow): FactOf<'call.failed'> | undefined {
  const integration = integrationOfRun(name);
  if (integration === undefined) return undefined;
  const knownMs = Math.max(0, renewedAt - startedAt);
  const message =
    `unwedge run (pid ${pid}) ended without a word: it was killed, or its machine went down; ` +
    `started at ${new Date(startedAt).toISOString()}, last seen ${formatSeconds(knownMs)} later`;
  const failure = { kind: 'crash', message, outcome: 'unknown', integration, attempts: 1, retryable: false } as const;
  return { type: 'call.failed', integration, call: id, failure, retryCount: 0, elapsedMs: knownMs };
}
