import type { ChildRecords, RegisterChild, StartedChild } from '../policy/childRecord.ts';
import type { Clock } from '../policy/clock.ts';
import { type Logger, say } from '../policy/logger.ts';
import { identifyNow, seeWorld } from './processIdentity.ts';
import { identify, type ProcessIdentity } from './processWorld.ts';

export interface ChildRegistryOptions {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** Tells a process from a later one of the same pid; undefined when that cannot be told. @defaultValue what the system says */
  readonly identifyProcess?: ((pid: number) => Promise<ProcessIdentity | undefined>) | undefined;
}

/** Keeps a record of every live child, so that the next runtime can end those that outlive this one. */
export interface ChildRegistry {
  readonly register: RegisterChild;
  /** Has children recorded from here on, those that live already included. */
  keepIn(records: ChildRecords): void;
}

interface LiveChild extends StartedChild {
  readonly startedAt: number;
  ended: boolean;
  /** Takes it off the records, once it is there. */
  forget?: () => void;
}

export function createChildRegistry(options: ChildRegistryOptions): ChildRegistry {
  const { clock, logger, identifyProcess = identifyOne } = options;
  const live = new Set<LiveChild>();
  let records: ChildRecords | undefined;
  let owner: Promise<ProcessIdentity | undefined> | undefined;
  let saidUnknown = false;

  async function record(child: LiveChild, kept: ChildRecords): Promise<void> {
    const { pid, mark, command, startedAt } = child;
    owner ??= identifyProcess(process.pid);
    const [self, identity] = await Promise.all([owner, identifyProcess(pid)]);
    if (self === undefined && !saidUnknown) {
      saidUnknown = true;
      say(logger, 'warn', 'The start time of a process cannot be read: children that outlive this one stay.');
    }
    // A child that cannot be found has ended by now.
    if (self === undefined || identity === undefined || child.ended) return;
    kept.add({ pid, mark, command, startedAt, start: identity.start, ownerPid: self.pid, ownerStart: self.start });
    child.forget = () => kept.remove(identity);
  }

  return {
    register(started) {
      const child: LiveChild = { ...started, startedAt: clock.wallNow(), ended: false };
      live.add(child);
      if (records !== undefined) void record(child, records).catch(noop);
      return () => {
        if (!live.delete(child)) return;
        child.ended = true;
        child.forget?.();
      };
    },
    keepIn(kept) {
      records = kept;
      for (const child of live) void record(child, kept).catch(noop);
    },
  };
}

/** Blocks for short reads where that is enough, so that a child is on record with the commit of the turn that started it. */
async function identifyOne(pid: number): Promise<ProcessIdentity | undefined> {
  const identity = identifyNow(pid) ?? identify(await seeWorld(), pid);
  return identity.start === '' ? undefined : identity;
}

function noop(): void {}
