import type { ChildRecord, ChildRecords } from '../../policy/records/childRecord.ts';
import type { Clock } from '../../policy/clock.ts';
import type { Facts } from '../../policy/facts/facts.ts';
import { type Logger, say } from '../../policy/text/logger.ts';
import { judge, type ProcessWorld, seeWorld } from './processIdentity.ts';
import { killMarked, markName, namesMark } from './processMark.ts';
import { terminateTree } from './processTree.ts';

interface OrphanOptions {
  readonly records: ChildRecords;
  readonly clock: Clock;
  /** Is told `process.reaped`. */
  readonly facts: Facts;
  readonly logger?: Logger | undefined;
  /** The processes as of now. @defaultValue what the system says */
  readonly see?: (() => Promise<ProcessWorld>) | undefined;
}

/** Between SIGTERM and SIGKILL, in ms: nobody waits for the answer of an orphan any more. */
const graceMs = 1000;
/** Longest time reaping may take, in ms; what is left then is left to the next start. */
const limitMs = 10_000;
/** Time in ms that the record of a child is kept of which the system never says whether it lives. */
const unknownForMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Ends the children of runtimes that are dead, with all that descends from them, and forgets them: SIGTERM, 1 s, SIGKILL. A pid
 * that was given to another process is left alone, and so are the children of live runtimes. Never rejects; resolves after at most 10 s.
 */
export async function reapOrphans(options: OrphanOptions): Promise<void> {
  const { clock, logger } = options;
  let timer: ReturnType<Clock['setTimeout']> | undefined;
  const expired = new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, limitMs, { ref: true });
  });
  const reaped = reap(options).catch((error: unknown) => {
    say(logger, 'warn', 'The children of dead runtimes were not reaped', { error });
  });
  await Promise.race([reaped, expired]);
  clock.clearTimeout(timer);
}

async function reap(options: OrphanOptions): Promise<void> {
  const { records } = options;
  // A stop waits for this, and a database that does not answer may take its time.
  const kept = await records.list();
  try {
    if (kept.length > 0) await reapKept(options, kept);
  } finally {
    await records.reaped();
  }
}

async function reapKept(options: OrphanOptions, kept: readonly ChildRecord[]): Promise<void> {
  const { records, clock, facts, logger, see = seeWorld } = options;
  const world = await see();
  for (const child of kept) if (isStale(child, world, clock.wallNow())) records.remove(child);
  const ancestors = ancestorsOf(process.pid, world);
  const left = kept.filter((child) => ownerOf(child, world) === 'dead' && !isAbove(child, ancestors, world));
  const running = left.filter((child) => judge(world, child) === 'alive');

  await Promise.all(
    running.map((child) => terminateTree(child.pid, { graceMs, clock, startTime: startTime(child, world) })),
  );
  const marked = await killMarked(...left.map(({ mark }) => mark));

  const after = await see();
  for (const child of left) {
    if (judge(after, child) !== 'dead') {
      say(logger, 'warn', `The process ${child.pid} of a dead runtime could not be ended: ${child.command}`);
      continue;
    }
    records.remove(child);
    if (!running.includes(child) && !marked.has(child.mark)) continue;
    const { pid, command, ownerPid, startedAt } = child;
    facts.tell({ type: 'process.reaped', pid, command, ownerPid, ageMs: Math.max(0, clock.wallNow() - startedAt) });
  }
}

const ownerOf = ({ ownerPid, ownerStart }: ChildRecord, world: ProcessWorld) =>
  judge(world, { pid: ownerPid, start: ownerStart });

/** It comes from another pid namespace, and is so old that a judge of that namespace has had the time. */
const isStale = (child: ChildRecord, world: ProcessWorld, wallNow: number): boolean =>
  ownerOf(child, world) === 'unknown' && wallNow - child.startedAt > unknownForMs;

/** We may be what an orphaned agent started, or started below it: then its mark may be hidden by that of a runtime in between. */
const isAbove = (child: ChildRecord, ancestors: ReadonlySet<number>, world: ProcessWorld): boolean =>
  namesMark(process.env[markName], child.mark) || (ancestors.has(child.pid) && judge(world, child) === 'alive');

function ancestorsOf(pid: number, { entries }: ProcessWorld): ReadonlySet<number> {
  const parents = new Map(entries.map((entry) => [entry.pid, entry.parent]));
  const ancestors = new Set<number>();
  for (let at = parents.get(pid); at !== undefined && at > 1 && !ancestors.has(at); at = parents.get(at)) {
    ancestors.add(at);
  }
  return ancestors;
}

const startTime = ({ pid }: ChildRecord, { entries }: ProcessWorld): string | undefined =>
  entries.find((entry) => entry.pid === pid)?.startTime;
