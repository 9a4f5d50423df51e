import type { RuntimeRow } from '../src/store/runtimes.ts';
import type { StoreReader } from '../src/store/storeReader.ts';

/** Newest events that are looked at: more would cost a command more than they tell. */
const mostEvents = 1000;

/** Runtimes with their last sign of life on record: a runtime renews its row once a minute, and an event that it recorded after that is a later sign. */
export async function withLastSigns(
  rows: readonly RuntimeRow[],
  reader: Pick<StoreReader, 'events'>,
): Promise<readonly RuntimeRow[]> {
  if (rows.length === 0) return rows;
  const lastAt = new Map<unknown, number>();
  for (const { metadata, at } of await reader.events({ limit: mostEvents })) lastAt.set(metadata['runtime_pid'], at);
  return rows.map((row) => {
    const recordedAt = lastAt.get(row.pid) ?? row.renewedAt;
    // A process of before may have had its pid.
    return recordedAt > Math.max(row.renewedAt, row.startedAt) ? { ...row, lastSignAt: recordedAt } : row;
  });
}
