/** Facts of processes and supervised children. */
export interface SupervisionFacts {
  /** A child process runs. */
  'process.started': { process: string; pid: number; command: string };
  /** It ended, and everything below it. */
  'process.exited': {
    process: string;
    pid?: number | undefined;
    reason: string;
    exitCode?: number | undefined;
    signal?: string | undefined;
    elapsedMs: number;
  };
  /** A child of a runtime that died was still there at the start of this one, it or what it started, and was ended. */
  'process.reaped': { pid: number; command: string; ownerPid: number; ageMs: number };
  /** A line a child wrote where the protocol allows none, or to stderr. Told at debug level. */
  'process.stray_output': { process: string; stream: 'stdout' | 'stderr'; line: string };

  /** A child of a supervisor has started. */
  'child.started': { child: string; incarnation: number };
  /** An incarnation of a child failed: which child, in what state, why, and what the supervisor does. */
  'child.crashed': {
    child: string;
    /** Names from the root supervisor down to the child. */
    path: readonly string[];
    incarnation: number;
    /** Age of the incarnation. */
    elapsedMs: number;
    error: string;
    stack?: string | undefined;
    /** Errors behind the error, nearest first: causes and the errors of an aggregate. */
    causes?: readonly string[] | undefined;
    /** The state of its machine. */
    machineState?: string | undefined;
    /** Type of the last event it was given; absent when it failed in its start. */
    lastEvent?: string | undefined;
    /** Messages held for its next start. */
    queued: number;
    /** Restarts so far. */
    restarts: number;
    /** Values of its spec's `details`, such as the length of its own queue. */
    details?: Readonly<Record<string, unknown>> | undefined;
    next: 'restart' | 'quarantine' | 'escalate' | 'stop';
    /** Absent when it does not come back by itself. */
    nextRestartInMs?: number | undefined;
  };
  /** It will be started again after `delayMs`. */
  'child.restarting': { child: string; restarts: number; delayMs: number };
  /** It used up its restarts and stays down until it is restarted by hand, or its quarantine ends by time. */
  'child.quarantined': {
    child: string;
    restarts: number;
    error: string;
    /** Absent when it does not come back by itself. */
    nextRestartInMs?: number | undefined;
  };
  /** It has ended and does not come back by itself. */
  'child.stopped': { child: string; reason: 'normal' | 'shutdown' | 'killed' | 'failure' };
  /** A supervisor used up its restart window. */
  'supervisor.gave_up': { supervisor: string; child: string; restarts: number; periodMs: number };
  /** A message to a child was refused, as there was none to take it, or was dropped from its mailbox. */
  'message.dead_letter': {
    to: string;
    /** Its type. */
    message: string;
    reason:
      | 'no_child'
      | 'starting'
      | 'restarting'
      | 'quarantined'
      | 'stopped'
      | 'mailbox_full'
      | 'drop_oldest'
      | 'drop_newest';
    /** Dead letters to this child so far, this one included; with `no_child`, all of the supervisor. */
    deadLetters: number;
  };
}
