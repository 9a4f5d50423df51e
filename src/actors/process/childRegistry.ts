import type { ChildRecords, RegisterChild, StartedChild } from '../../policy/records/childRecord.ts';
import type { Clock } from '../../policy/clock.ts';
import { type Logger, say } from '../../policy/text/logger.ts';
import { createChildGuard } from './childGuard.ts';
import { identify, identifyNow, type ProcessIdentity, seeWorld } from './processIdentity.ts';

interface ChildRegistryOptions {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** Lets a guard end the children should this process be killed. @defaultValue false */
  readonly guarded?: boolean | undefined;
  /** Tells a process from a later one of the same pid; undefined when that cannot be told. @defaultValue what the system says */
  readonly identifyProcess?: ((pid: number) => Promise<ProcessIdentity | undefined>) | undefined;
}

/** Keeps every live child with its guard, and on record, so that those that outlive this runtime are ended by it or by the next one. */
export interface ChildRegistry {
  readonly register: RegisterChild;
  /** Has children recorded from here on, those that live already included. */
  keepIn(records: ChildRecords): void;
  /** No child is started any more. */
  close(): void;
}

interface LiveChild extends StartedChild {
  readonly startedAt: number;
  ended: boolean;
  /** Takes it off the records, once it is there. */
  forget?: () => void;
}

export function createChildRegistry(options: ChildRegistryOptions): ChildRegistry {
  const { clock, logger, guarded = false, identifyProcess = identifyOne } = options;
  const guard = guarded ? createChildGuard(logger) : undefined;
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
    register(about) {
      guard?.raise();
      let child: LiveChild | undefined;
      let unwatch: (() => void) | undefined;
      return {
        started(pid) {
          unwatch = guard?.watch(pid);
          child = { ...about, pid, startedAt: clock.wallNow(), ended: false };
          live.add(child);
          if (records !== undefined) void record(child, records).catch(noop);
        },
        ended() {
          unwatch?.();
          unwatch = undefined;
          if (child === undefined || !live.delete(child)) return;
          child.ended = true;
          child.forget?.();
        },
      };
    },
    keepIn(kept) {
      records = kept;
      for (const child of live) void record(child, kept).catch(noop);
    },
    close: () => guard?.release(),
  };
}

/** Blocks for short reads where that is enough, so that a child is on record with the commit of the turn that started it. */
async function identifyOne(pid: number): Promise<ProcessIdentity | undefined> {
  const identity = identifyNow(pid) ?? identify(await seeWorld(), pid);
  return identity.start === '' ? undefined : identity;
}

function noop(): void {}
