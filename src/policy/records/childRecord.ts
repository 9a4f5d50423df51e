/** A child process that was just started. */
export interface StartedChild {
  readonly pid: number;
  /** In the environment of all that descends from it, and of nothing else. */
  readonly mark: string;
  readonly command: string;
}

/** Notes that a child is about to be started, so that it is never without a guard. None of this throws. */
export type RegisterChild = (child: Omit<StartedChild, 'pid'>) => RegisteredChild;

/** A child that is noted. */
export interface RegisteredChild {
  /** It lives. */
  started(pid: number): void;
  /** It, and all below it, is gone; or it never was. More calls do nothing. */
  ended(): void;
}

/** A live child as it is kept for the next runtime, should this one die first. */
export interface ChildRecord extends StartedChild {
  /** Opaque: tells the process from a later one of the same pid. */
  readonly start: string;
  /** Wall time, in ms since the epoch. */
  readonly startedAt: number;
  readonly ownerPid: number;
  readonly ownerStart: string;
}

/** Store of live children. Nothing here throws or rejects. */
export interface ChildRecords {
  /** Every child that is kept, also those of other runtimes; empty when nothing can be read. */
  list(): Promise<readonly ChildRecord[]>;
  /** Keeps a child, with the commit of this event-loop turn. */
  add(child: ChildRecord): void;
  /** Forgets a child; one that was not yet written never is. */
  remove(child: Pick<ChildRecord, 'pid' | 'start'>): void;
  /** The children of dead runtimes have been ended: what is left to say of processes that had some is taken off. */
  reaped(): Promise<void>;
}
