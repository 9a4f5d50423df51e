import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reapOrphans } from '../../../src/actors/process/orphans.ts';
import { identify, type ProcessWorld, seeWorld } from '../../../src/actors/process/processIdentity.ts';
import { markName } from '../../../src/actors/process/processMark.ts';
import type { ChildRecord } from '../../../src/policy/records/childRecord.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { allGone, fixture, isAlive } from './startProcess.ts';

let lastMark = 0;

/** A process whose runtime, going by its record, is dead; `child` is what it started, if anything. */
async function startOrphan(name: string, ...args: readonly string[]) {
  const mark = `test.${process.pid}.${++lastMark}`;
  const root = spawn(process.execPath, [fixture(name), ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, [markName]: mark },
  });
  const exited = once(root, 'exit');
  const [line] = (await once(createInterface(root.stdout), 'line')) as [string];
  const { pid = 0 } = root;
  const child = line.startsWith('{') ? (JSON.parse(line) as { child: number }).child : pid;
  onTestFinished(() => {
    for (const left of [pid, child].filter(isAlive)) process.kill(left, 'SIGKILL');
  });
  const world = await seeWorld();
  const { start } = identify(world, pid);
  const owner = identify(world, process.pid);
  const record: ChildRecord = {
    pid,
    start,
    mark,
    command: name,
    startedAt: systemClock.wallNow() - 5000,
    ownerPid: process.pid,
    // As if that pid had been another process then.
    ownerStart: owner.start.replace(/^[^@]+/, 'earlier'),
  };
  return { pid, child, exited, record, owner, world };
}

function startReaping(rows: readonly ChildRecord[], see?: () => Promise<ProcessWorld>, clock = systemClock) {
  const facts = new RecordedFacts();
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  let kept = rows;
  const records = {
    list: async () => kept,
    reaped: () => Promise.resolve(),
    add: () => undefined,
    remove: ({ pid, start }: Pick<ChildRecord, 'pid' | 'start'>) => {
      kept = kept.filter((row) => row.pid !== pid || row.start !== start);
    },
  };
  const logger = { debug: log, info: log, warn: log, error: log };
  const done = reapOrphans({ records, clock, facts, logger, see });
  return { done, facts, lines, kept: () => kept };
}

describe('reaping orphans', () => {
  it('[S-8] ends the child of a dead runtime, forgets it and tells of it', async () => {
    const { pid, record } = await startOrphan('silent');
    const { done, facts, kept } = startReaping([record]);
    await done;
    expect(isAlive(pid)).toBe(false);
    expect(kept()).toEqual([]);
    expect(facts.of('process.reaped')).toMatchObject([{ pid, command: 'silent', ownerPid: process.pid }]);
    expect(facts.of('process.reaped')[0]?.ageMs).toBeGreaterThanOrEqual(5000);
  });

  it('[S-8] ends one that ignores SIGTERM, and its child with a session of its own', async () => {
    const { pid, child, record } = await startOrphan('stubborn');
    const { done, kept } = startReaping([record]);
    await done;
    expect([pid, child].filter(isAlive)).toEqual([]);
    expect(kept()).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('[S-8] ends what carries the mark of one that is gone itself', async () => {
    const { pid, child, exited, record } = await startOrphan('forker');
    process.kill(pid, 'SIGKILL');
    await exited;
    const { done, facts, kept } = startReaping([record]);
    await done;
    await allGone(child);
    expect(facts.of('process.reaped')).toMatchObject([{ pid }]);
    expect(kept()).toEqual([]);
  });

  it.each(['list', 'reaped'] as const)(
    '[S-8] [N-7] waits 10 s at most for records that do not answer to %s',
    async (what) => {
      const clock = new SimulatedClock();
      const nothing = { add: () => undefined, remove: () => undefined };
      const records = { list: async () => [], reaped: () => Promise.resolve(), ...nothing };
      let isDone = false;
      const silent = { ...records, [what]: () => new Promise<never>(() => undefined) };
      void reapOrphans({ records: silent, clock, facts: new RecordedFacts() }).then(() => {
        isDone = true;
      });
      await clock.advance(9_999);
      expect(isDone).toBe(false);
      await clock.advance(1);
      expect(isDone).toBe(true);
    },
  );

  it('[S-8] leaves a process alone that was given the pid, and forgets the record', async () => {
    const { pid, record } = await startOrphan('silent');
    const reused = { ...record, mark: 'another', start: record.start.replace(/^[^@]+/, 'earlier') };
    const { done, facts, kept } = startReaping([reused]);
    await done;
    expect(isAlive(pid)).toBe(true);
    expect(kept()).toEqual([]);
    expect(facts.all).toEqual([]);
  });

  it('[S-8] leaves the child of a live runtime alone, with its record', async () => {
    const { pid, record, owner } = await startOrphan('silent');
    const alive = { ...record, ownerStart: owner.start };
    const { done, facts, kept } = startReaping([alive]);
    await done;
    expect(isAlive(pid)).toBe(true);
    expect(kept()).toEqual([alive]);
    expect(facts.all).toEqual([]);
  });

  it('[S-8] ends nothing where processes cannot be seen, and keeps the records', async () => {
    const { pid, record } = await startOrphan('silent');
    const { done, kept } = startReaping([record], async () => ({ entries: [], boot: '', namespace: '' }));
    await done;
    expect(isAlive(pid)).toBe(true);
    expect(kept()).toEqual([record]);
  });

  it('[S-8] leaves alone what lives in another pid namespace, and forgets it after 30 days', async () => {
    const { pid, record, world } = await startOrphan('silent');
    const elsewhere = { ...world, namespace: 'pid:[1]' };
    const day = 24 * 60 * 60 * 1000;
    const recent = { ...record, startedAt: systemClock.wallNow() - 29 * day };
    const old = { ...record, start: 'other@', startedAt: systemClock.wallNow() - 31 * day };
    const { done, kept } = startReaping([recent, old], async () => elsewhere);
    await done;
    expect(isAlive(pid)).toBe(true);
    expect(kept()).toEqual([recent]);
  });

  it('[S-8] spares the run it descends from itself', async () => {
    const { pid, record } = await startOrphan('silent');
    process.env[markName] = record.mark;
    onTestFinished(() => {
      delete process.env[markName];
    });
    const { done, kept } = startReaping([record]);
    await done;
    expect(isAlive(pid)).toBe(true);
    expect(kept()).toEqual([record]);
  });

  it('[S-8] spares one above it that another runtime in between hides', async () => {
    const { pid, record, world } = await startOrphan('silent');
    const entries = world.entries.map((entry) => (entry.pid === process.pid ? { ...entry, parent: pid } : entry));
    const { done, kept } = startReaping([record], async () => ({ ...world, entries }));
    await done;
    expect(isAlive(pid)).toBe(true);
    expect(kept()).toEqual([record]);
  });

  it('[S-8] ends after 10 s when the system does not answer', async () => {
    const clock = new SimulatedClock();
    const { record } = await startOrphan('silent');
    let ended = false;
    const { done } = startReaping([record], () => new Promise(() => undefined), clock);
    void done.then(() => {
      ended = true;
    });
    await clock.advance(9_999);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(ended).toBe(true);
  });

  it('[S-8] says what went wrong and goes on', async () => {
    const { record } = await startOrphan('silent');
    const { done, lines, kept } = startReaping([record], () => Promise.reject(new Error('no /proc')));
    await done;
    expect(lines).toEqual(['The children of dead runtimes were not reaped']);
    expect(kept()).toEqual([record]);
  });
});
