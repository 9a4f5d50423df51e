/** Facts of the process, the runtime, the store and listeners. */
export interface HostFacts {
  /** An error that nobody in this process caught, seen by a process guard; `wentOn`: a guard had it go on. */
  'host.uncaught': { origin: string; error: string; stack?: string | undefined; wentOn: boolean };

  /** The event loop stood still: what ends in the wake of that counts for no breaker, and limits on silence are longer by as much. */
  'runtime.stalled': { stalledMs: number };
  /** A gateway on a shared PostgreSQL database has ended in order, also one that had no session and stood by; its sessions are free. */
  'gateway.left': { gateway: string; pid: number; host: string };
  /** A gateway is gone that ended without a word, also one that stood by; told by the next that looks on its machine. */
  'gateway.died': { gateway: string; pid: number; host: string };
  /** The store cannot be written: what it is given waits in memory. */
  'store.degraded': { reason: string; fix: string };
  /** It can be written again, and what waited is written. */
  'store.recovered': {
    queued: number;
    dropped: number;
    downMs: number;
    /** Messages and calls without an end that a new file was given, where the earlier one was lost. */
    carried?: number | undefined;
    /** Writes of this run before it that only the earlier file has: events and history. */
    left?: number | undefined;
  };
  /** Writes that were acknowledged are not in it: its log was deleted or damaged after a kill, or an earlier copy put in its place. Told once. */
  'store.log_lost': {
    reason: string;
    fix: string;
    /** Time of the last commit that is known to be there, wall time in ms since the epoch; absent where none is. */
    from?: number | undefined;
    /** Time of the last commit that is known to be lost. */
    to: number;
  };
  /** Records that were too old or too many were deleted. */
  'store.pruned': {
    /** Rows deleted. */
    rows: number;
    /** Reason that made them go: their age, or the size of the file. */
    because: 'age' | 'size';
    /** Bytes in use before and after. */
    bytesBefore: number;
    bytesAfter: number;
    elapsedMs: number;
  };
  /** Something is configured for an integration that was not declared by the time the gateway started; `nearest` may have been meant. */
  'config.unused': { integration: string; nearest?: string | undefined };
  /** No control socket could be opened; commands cannot reach this runtime. */
  'control.unavailable': { reason: string; fix: string };
  /** A subscriber threw; it is contained. */
  'listener.failed': { event: string; error: string; stack?: string | undefined };
  /** A subscriber that threw `failures` times in a row hears nothing any more. `event` is what it listened to. */
  'listener.removed': { event: string; failures: number; error: string };
}
