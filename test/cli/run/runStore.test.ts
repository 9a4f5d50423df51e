import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { circuitTrace } from '../../../cli/run/runStore.ts';
import { hasSqlite, startStore } from '../../store/startStore.ts';

describe.skipIf(!hasSqlite)('the file that tells of failed runs of a name', () => {
  it('[L-4] is there after a failure, and gone after the next run that goes well', async () => {
    const { store, path, clock } = await startStore();
    const trace = circuitTrace(path, 'nightly');
    store.breakers.countFailure('nightly', 0);
    await clock.settle();
    trace.update(store, false);
    expect(existsSync(`${path}-run-nightly`)).toBe(true);
    trace.update(store, true);
    expect(existsSync(`${path}-run-nightly`)).toBe(false);
  });
});
