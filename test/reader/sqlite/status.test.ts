import { describe, expect, it } from 'vitest';
import type { OpenAlert } from '../../../src/policy/records/alertRecord.ts';
import type { Fact, Told } from '../../../src/policy/facts/facts.ts';
import type { AlertView } from '../../../reader/storeReader.ts';
import { openReader } from '../../../reader/openReader.ts';
import { failed, hasSqlite, startStore, told } from '../../store/startStore.ts';

const now = Date.UTC(2026, 0, 1, 1);
/** The window in which failures count, and after which an alert that was cleared tells of them no more. */
const windowMs = 600_000;

const failures = (count: number, ageMs: number): Told<Fact>[] =>
  Array.from({ length: count }, (_, index) => ({ ...failed(index, { integration: 'kb' }), at: now - ageMs }));
const crashes = (count: number): Told<Fact>[] =>
  Array.from({ length: count }, () => ({
    ...told({ type: 'integration.crashed', integration: 'kb', message: 'it died' }),
    at: now,
  }));

/** What is said of a database with these facts, and with an alert that was cleared then. */
async function viewOf(facts: readonly Told<Fact>[], clearedAt?: number): Promise<AlertView> {
  const { store, clock, path } = await startStore();
  const raisedAt = now - 3 * windowMs;
  const about: Omit<OpenAlert, 'id' | 'integration'> = {
    because: 'failures',
    kind: 'timeout',
    message: 'no answer',
    failures: 5,
    crashes: 0,
    raisedAt,
    lastFailureAt: raisedAt,
  };
  if (clearedAt !== undefined) {
    void store.alerts.raise({ id: 'one', integration: 'kb', ...about });
    void store.alerts.clear('one', 'quiet', clearedAt, now);
  }
  for (const fact of facts) store.record(fact);
  const flushed = store.flush();
  await clock.settle();
  await flushed;
  const reader = await openReader(path);
  const view = await reader.alerts(now);
  reader.close();
  return view;
}

const unwatched = async (facts: readonly Told<Fact>[], clearedAt?: number): Promise<readonly string[]> =>
  (await viewOf(facts, clearedAt)).unwatched.map(({ integration, because }) => `${integration} by ${because}`);

describe.skipIf(!hasSqlite)('what nobody has watched', () => {
  it('[O-3] begins after the window, at the fifth failure or crash', async () => {
    expect(await unwatched(failures(5, windowMs - 1))).toEqual(['kb by failures']);
    expect(await unwatched([...failures(4, 0), ...failures(1, windowMs)])).toEqual([]);
    expect(await unwatched([...failures(4, 0), ...crashes(4)])).toEqual([]);
    expect(await unwatched([...failures(4, 0), ...crashes(5)])).toEqual(['kb by crashes']);
  });

  it('[O-3] is nothing that an alert has told of which was cleared within the window', async () => {
    expect(await unwatched(failures(5, 0), now - windowMs + 1)).toEqual([]);
    expect(await unwatched(failures(5, 0), now - windowMs)).toEqual(['kb by failures']);
  });
});
