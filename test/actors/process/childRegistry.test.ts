import { describe, expect, it } from 'vitest';
import { type ChildRegistry, createChildRegistry } from '../../../src/actors/process/childRegistry.ts';
import type { ChildRecord, ChildRecords, StartedChild } from '../../../src/policy/records/childRecord.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { deferred } from '../../support/deferred.ts';

const child = { pid: 4711, mark: 'm', command: 'cli' };

/** Registers a child that starts at once; what is returned tells of its end. */
function starting({ register }: ChildRegistry) {
  return ({ pid, ...about }: StartedChild): (() => void) => {
    const registered = register(about);
    registered.started(pid);
    return () => registered.ended();
  };
}

class KeptChildren implements ChildRecords {
  rows: readonly ChildRecord[] = [];
  readonly list = async () => this.rows;
  readonly reaped = () => Promise.resolve();
  readonly add = (row: ChildRecord): void => {
    this.rows = [...this.rows, row];
  };
  readonly remove = ({ pid, start }: Pick<ChildRecord, 'pid' | 'start'>): void => {
    this.rows = this.rows.filter((row) => row.pid !== pid || row.start !== start);
  };
}

function startRegistry(identifyProcess?: (pid: number) => Promise<{ pid: number; start: string } | undefined>) {
  const clock = new SimulatedClock();
  const kept = new KeptChildren();
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const logger = { debug: log, info: log, warn: log, error: log };
  const registry = createChildRegistry({ clock, logger, identifyProcess });
  registry.keepIn(kept);
  return { clock, kept, lines, register: starting(registry) };
}

const known = async (pid: number) => ({ pid, start: `start of ${pid}` });

describe('the registry of children', () => {
  it('[S-8] keeps a live child with its start, and those of its owner', async () => {
    const { clock, kept, register } = startRegistry(known);
    register(child);
    await clock.settle();
    const owner = { ownerPid: process.pid, ownerStart: `start of ${process.pid}` };
    expect(kept.rows).toEqual([{ ...child, start: 'start of 4711', startedAt: clock.wallNow(), ...owner }]);
  });

  it('[S-8] forgets it when it has ended', async () => {
    const { clock, kept, register } = startRegistry(known);
    const unregister = register(child);
    await clock.settle();
    unregister();
    unregister();
    await clock.settle();
    expect(kept.rows).toEqual([]);
  });

  it('[S-8] never keeps one that ended while it was looked at', async () => {
    const start = deferred<{ pid: number; start: string }>();
    const { clock, kept, register } = startRegistry(() => start.promise);
    register(child)();
    start.resolve({ pid: 4711, start: 'x' });
    await clock.settle();
    expect(kept.rows).toEqual([]);
  });

  it('[S-8] says once that nothing is kept where start times cannot be read', async () => {
    const { clock, kept, lines, register } = startRegistry(async () => undefined);
    register(child);
    register(child);
    await clock.settle();
    expect(kept.rows).toEqual([]);
    expect(lines).toEqual(['The start time of a process cannot be read: children that outlive this one stay.']);
  });

  it('[S-8] is quiet about a child that is gone before it is looked at', async () => {
    const { clock, kept, lines, register } = startRegistry(async (pid) => (pid === 4711 ? undefined : known(pid)));
    register(child);
    await clock.settle();
    expect([kept.rows, lines]).toEqual([[], []]);
  });

  it('[S-8] contains what goes wrong on the way', async () => {
    const { clock, kept, register } = startRegistry(() => Promise.reject(new Error('no /proc')));
    register(child)();
    await clock.settle();
    expect(kept.rows).toEqual([]);
  });

  it('[S-8] keeps those that live when there is somewhere to keep them, since when they live', async () => {
    const clock = new SimulatedClock();
    const kept = new KeptChildren();
    const registry = createChildRegistry({ clock, identifyProcess: known });
    const register = starting(registry);
    const startedAt = clock.wallNow();
    register({ ...child, pid: 1000 })();
    const unregister = register(child);
    await clock.advance(500);
    registry.keepIn(kept);
    await clock.settle();
    expect(kept.rows).toMatchObject([{ pid: 4711, startedAt }]);
    unregister();
    expect(kept.rows).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('[S-8] knows a process within the same event-loop turn', async () => {
    const { kept, register } = startRegistry();
    register({ ...child, pid: process.ppid });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(kept.rows).toMatchObject([{ pid: process.ppid, ownerPid: process.pid }]);
  });
});
