import { readStatusAnswer } from '../control/answers.ts';
import { askRuntimes } from '../runtime/askRuntimes.ts';
import { runtimesOf } from '../runtime/unlisted.ts';
import type { StoreReader } from '../store/storeReader.ts';
import type { Io } from './io.ts';

/** The names of the integrations that are on record, were called, or that a live runtime has. */
export async function knownIntegrations(reader: StoreReader, io: Pick<Io, 'now'>): Promise<ReadonlySet<string>> {
  const now = io.now();
  const { integrations } = await reader.status(now);
  const called = await reader.statistics(0, 'whole');
  const asked = await askRuntimes(await runtimesOf(reader, now), io, 'status', readStatusAnswer);
  const live = asked.flatMap(({ answer }) => answer?.integrations ?? []);
  return new Set([...integrations, ...called, ...live].map(({ integration }) => integration));
}
