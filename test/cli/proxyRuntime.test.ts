import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import { createProxyRuntime } from '../../cli/proxyRuntime.ts';
import type { Fact } from '../../src/policy/facts/facts.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { failed, hasSqlite, openDatabase, startStore, temporaryDirectory } from '../store/startStore.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const start = Date.UTC(2026, 0, 1);

/** The runtime of a proxy on simulated time, its store not open yet. */
async function startRuntime(path: string, options: Partial<GatewayOptions> = {}) {
  const clock = new SimulatedClock();
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const logger = { debug: () => undefined, info: () => undefined, warn: say, error: say };
  const prepared = createProxyRuntime({ clock, logger, store: path, ...options });
  const { registry } = prepared;
  const facts: Fact[] = [];
  registry.runtime.bus.on('*', (fact) => facts.push(fact));
  await registry.start({ storeLater: true });
  onTestFinished(async () => {
    const stopped = registry.stop();
    await clock.advance(10_000);
    await stopped;
  });
  const open = async () => {
    const opening = prepared.openStore();
    await clock.settle();
    return opening;
  };
  const told = (type: Fact['type']) => facts.filter((fact) => fact.type === type);
  const crash = (message = 'exited with code 3'): void =>
    registry.runtime.bus.tell({ type: 'integration.crashed', integration: 'kb', message });
  return { ...prepared, clock, said, told, open, crash, bus: registry.runtime.bus };
}

const long = 'at somewhere in the code\n'.repeat(400);

/** A file with one event of each of these ages at the start of simulated time, in ms. */
async function fileWith(...ages: readonly number[]): Promise<string> {
  const { store, path } = await startStore({ path: join(temporaryDirectory(), 'events.sqlite') });
  for (const [index, age] of ages.entries()) store.record({ ...failed(index), stack: long, at: start - age });
  await store.flush();
  return path;
}

function failuresIn(path: string): number {
  const row = openDatabase(path).prepare(`SELECT count(*) AS count FROM events WHERE event_type = 'failure'`).get();
  return Number(row?.['count']);
}

function crashesIn(path: string): number {
  const row = openDatabase(path).prepare(`SELECT count(*) AS count FROM events WHERE event_type = 'crashed'`).get();
  return Number(row?.['count']);
}

describe.skipIf(!hasSqlite)('what a proxy keeps', () => {
  it('[O-7] [P-3] is pruned by age a minute after its store was opened, however late that was', async () => {
    const path = await fileWith(31 * day, 29 * day);
    const { clock, open, told } = await startRuntime(path);
    await clock.advance(5 * minute);
    await open();
    await clock.advance(minute - 1);
    expect([told('store.pruned'), failuresIn(path)]).toEqual([[], 2]);
    await clock.advance(1);
    expect(told('store.pruned')).toMatchObject([{ because: 'age', rows: 1 }]);
    expect(failuresIn(path)).toBe(1);
  });

  it('[O-7] [P-3] is pruned by size', async () => {
    const path = await fileWith(...Array.from({ length: 500 }, (_, index) => (index + 1) * 2 * minute));
    const { clock, open, told } = await startRuntime(path, { retention: { maxBytes: 1_000_000 } });
    await open();
    await clock.advance(2 * minute);
    expect(told('store.pruned')).toMatchObject([{ because: 'size' }]);
    expect(failuresIn(path)).toBeLessThan(500);
  });

  it('[O-7] [P-3] is pruned as its configuration says, or not at all', async () => {
    const path = await fileWith(31 * day, 2 * minute);
    const never = await startRuntime(path, { retention: false });
    await never.open();
    await never.clock.advance(61 * minute);
    expect([never.told('store.pruned'), failuresIn(path)]).toEqual([[], 2]);
    const short = await startRuntime(path, { retention: { maxAgeMs: minute } });
    await short.open();
    await short.clock.advance(minute);
    expect(failuresIn(path)).toBe(0);
  });

  it('[O-1] says of each record which process it is of', async () => {
    const path = await fileWith();
    const { open, crash, registry, clock } = await startRuntime(path);
    await open();
    crash();
    await clock.settle();
    expect(await registry.runtime.store()?.read({ category: 'integration', limit: 9 })).toMatchObject([
      { type: 'crashed', metadata: { integration: 'kb', runtime_pid: process.pid } },
    ]);
  });
});

describe.skipIf(!hasSqlite)('a proxy that ends before its store is open', () => {
  it('[O-1] [P-3] records what happened when nobody had opened it', async () => {
    const path = await fileWith();
    const { crash, registry, clock } = await startRuntime(path);
    crash();
    const stopped = registry.stop({ recordsEarly: true });
    await clock.settle();
    await stopped;
    expect(crashesIn(path)).toBe(1);
  });

  it('[O-1] [P-3] records what happened when it was being opened, and waits for the lock of another process', async () => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    const other = openDatabase(path);
    other.exec('BEGIN EXCLUSIVE');
    const { crash, registry, clock, open } = await startRuntime(path);
    crash('before');
    void open();
    await clock.settle();
    registry.join({ afterChildren: () => crash('at its end') });
    const stopped = registry.stop({ recordsEarly: true });
    await clock.advance(3000);
    other.exec('ROLLBACK');
    await clock.advance(1000);
    await stopped;
    expect(crashesIn(path)).toBe(2);
  });

  it('[I-6] [P-3] says so when the lock is held for longer than it waits', async () => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    openDatabase(path).exec('BEGIN EXCLUSIVE');
    const { crash, registry, clock, said } = await startRuntime(path);
    crash();
    const stopped = registry.stop({ recordsEarly: true });
    await clock.settle();
    await clock.advance(6000);
    await stopped;
    expect(said).toEqual([
      expect.stringContaining('The store is degraded') as string,
      expect.stringMatching(/^The store closed with [1-9]\d* events unwritten/) as string,
    ]);
  });

  it('[P-3] opens none when nothing has happened', async () => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    const { registry } = await startRuntime(path);
    await registry.stop({ recordsEarly: true });
    expect(existsSync(path)).toBe(false);
  });
});

describe.skipIf(!hasSqlite)('a proxy whose store cannot be loaded, as this process is out of descriptors', () => {
  it('[S-4] [P-3] says so once, tries again every 10 s, and has what was told meanwhile recorded then', async () => {
    const path = await fileWith();
    const { open, registry, crash, clock, said } = await startRuntime(path);
    const shortage = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    const opens = vi.spyOn(registry, 'openStore').mockRejectedValueOnce(shortage).mockRejectedValueOnce(shortage);
    await open();
    crash();
    await clock.advance(19_999);
    expect([opens.mock.calls.length, crashesIn(path)]).toEqual([2, 0]);
    await clock.advance(1);
    await clock.settle();
    expect([opens.mock.calls.length, crashesIn(path)]).toEqual([3, 1]);
    expect(said).toEqual(['Nothing is stored: too many files are open in this process (EMFILE)']);
  });
});

describe('the alerts of a proxy', () => {
  it('[O-3] [P-3] tell people once that its server keeps crashing, and that it is over', async () => {
    const { clock, open, crash, said, told } = await startRuntime(':memory:');
    await open();
    for (let time = 0; time < 7; time++) crash(`exited, ${time}`);
    expect(said).toEqual([
      expect.stringMatching(/^Alert: kb crashed 5 times within 10m; last: exited, 4 \(.*, pid \d+ on /),
    ]);
    await clock.advance(10 * minute);
    expect(told('alert.cleared')).toMatchObject([{ crashes: 7, by: 'quiet' }]);
    expect(said[1]).toMatch(/^All clear: kb, after 10m \(it has been quiet; /);
  });

  it.skipIf(!hasSqlite)('[O-3] [P-3] count what happened before its store was open', async () => {
    const { open, crash, told, clock } = await startRuntime(await fileWith());
    for (let time = 0; time < 4; time++) crash();
    await open();
    crash();
    await clock.settle();
    expect(told('alert.raised')).toHaveLength(1);
  });

  it('[O-3] are none where they are switched off, and have the thresholds of its configuration', async () => {
    const off = await startRuntime(':memory:', { alerts: false });
    await off.open();
    expect([...off.registry.paths.keys()]).toEqual([]);
    for (let time = 0; time < 9; time++) off.crash();
    expect(off.told('alert.raised')).toEqual([]);
    const one = await startRuntime(':memory:', { alerts: { integrations: { kb: { crashes: 1 } } } });
    await one.open();
    one.crash();
    expect(one.told('alert.raised')).toHaveLength(1);
  });

  it('[O-3] are delivered as those of a gateway, by an integration that can be seen', async () => {
    const { open, registry } = await startRuntime(':memory:', { alerts: { command: { command: process.execPath } } });
    await open();
    expect([...registry.paths.keys()]).toEqual(['alert:command']);
  });

  it('[I-3] are watched no more when it stops', async () => {
    const { open, registry, crash, told, bus } = await startRuntime(':memory:');
    await open();
    void registry.stop();
    for (let time = 0; time < 9; time++) crash();
    expect(told('alert.raised')).toEqual([]);
    expect(bus.wants('alert.cleared')).toBe(true);
  });
});
