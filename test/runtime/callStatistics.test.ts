import { describe, expect, it } from 'vitest';
import type { CallFiguresRow } from '../../src/policy/records/callFigures.ts';
import { CallStatistics } from '../../src/runtime/callStatistics.ts';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createShownNames } from '../../src/redaction/shownNames.ts';
import type { Store } from '../../src/store/store.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

function start() {
  const clock = new SimulatedClock();
  const rows: CallFiguresRow[] = [];
  const statistics = new CallStatistics(clock, () => undefined);
  statistics.onKept((kept) => rows.push(...kept));
  return { clock, rows, statistics };
}

describe('what is counted of calls', () => {
  it('[O-10] [O-8] is kept under names without secrets, each apart', async () => {
    const clock = new SimulatedClock();
    const kept: CallFiguresRow[] = [];
    const store = { statistics: { add: (rows: readonly CallFiguresRow[]) => void kept.push(...rows) } } as Store;
    const shown = createShownNames(new KnownSecrets({ BANK_TOKEN: 'planted-token-1', SHOP_TOKEN: 'planted-token-2' }));
    const statistics = new CallStatistics(clock, () => store, shown);
    statistics.of('planted-token-1').succeeded(5);
    statistics.of('planted-token-2').succeeded(5);
    await clock.advance(10_000);
    expect(JSON.stringify(kept)).not.toContain('planted');
    expect(new Set(kept.map(({ integration }) => integration)).size).toBe(2);
  });

  it('[O-10] is kept of an integration that is gone, which is forgotten then', async () => {
    const { clock, rows, statistics } = start();
    statistics.of('once').succeeded(5);
    statistics.of('stays').succeeded(5);
    statistics.left('once');
    await clock.advance(10_000);
    expect(rows.map(({ integration }) => integration)).toEqual(['once', 'stays']);
    expect(statistics.size).toBe(1);
    statistics.of('never called');
    statistics.left('never called');
    expect(statistics.size).toBe(1);
  });

  it('[O-10] goes on for one of the same name that comes back at once', async () => {
    const { clock, rows, statistics } = start();
    statistics.of('kb').succeeded(5);
    statistics.left('kb');
    statistics.of('kb').succeeded(5);
    await clock.advance(10_000);
    expect(rows.map(({ succeeded }) => succeeded)).toEqual([2]);
    expect(statistics.size).toBe(1);
  });

  it('[O-10] has a bound on the tools that are counted by name, and counts the others in the whole', async () => {
    const { clock, rows, statistics } = start();
    const counter = statistics.of('kb');
    for (let tool = 0; tool < 300; tool++) {
      counter.succeeded(1);
      counter.ofTool(`tool-${tool}`)?.succeeded(1);
    }
    await clock.advance(10_000);
    expect(rows).toHaveLength(201);
    expect(rows[0]).toMatchObject({ tool: undefined, succeeded: 300 });
  });
});
