/** Why a run ended; the first reason holds. */
export type TerminationReason =
  | 'manual-cancel'
  | 'overall-timeout'
  | 'no-output-timeout'
  | 'spawn-error'
  | 'signal'
  | 'exit';

/** Where a run is in its life. */
export type RunState = 'starting' | 'running' | 'exiting' | 'exited';

/** What is kept of a run. Times are wall time in ms since the epoch. */
export interface RunRecord {
  readonly runId: string;
  readonly sessionId: string;
  readonly backendId: string;
  readonly scopeKey?: string | undefined;
  readonly pid?: number | undefined;
  readonly processGroupId?: number | undefined;
  readonly startedAtMs: number;
  readonly lastOutputAtMs: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly state: RunState;
  readonly terminationReason?: TerminationReason | undefined;
  readonly exitCode?: number | null | undefined;
  readonly exitSignal?: string | null | undefined;
}

/** How a run ended. */
export interface RunExit {
  readonly reason: TerminationReason;
  /** `null` when the process did not exit by itself, or was never started. */
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly durationMs: number;
  /** Empty with `captureOutput: false`. */
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly noOutputTimedOut: boolean;
}

/** The stdin of a run with `stdinMode: 'pipe-open'`. */
export interface RunStdin {
  write(data: string, done?: (error?: Error | null) => void): void;
  end(): void;
  destroy(): void;
  readonly destroyed: boolean;
  readonly writable: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
}

/** A run under way. Each of its functions may be taken out of it. */
export interface ManagedRun {
  readonly runId: string;
  /** Absent where it was cancelled before its process was started. */
  readonly pid?: number | undefined;
  readonly startedAtMs: number;
  readonly stdin?: RunStdin | undefined;
  readonly activity: {
    /** When `timeoutMs` passes; absent without one. */
    readonly deadlineAtMs?: number | undefined;
    readonly resultSettled: boolean;
    readonly lastOutputAtMs: number;
  };
  /** Resolves once the process has ended, and everything below it. Never rejects. */
  readonly wait: () => Promise<RunExit>;
  /** Resolves when {@link wait} does: nothing of the process tree is left then. Never rejects. */
  readonly waitForExtinction: () => Promise<void>;
  /** SIGTERM, and SIGKILL after the supervisor's `graceMs`, to the whole process tree. Does nothing once the run has ended. */
  readonly cancel: (reason?: TerminationReason) => void;
  /** From here on none of its listeners hears its output, which is captured no longer either. */
  readonly detachOutput: () => void;
}

/** What every run may be given. */
export interface RunInput {
  /** @defaultValue a fresh UUID */
  readonly runId?: string | undefined;
  readonly sessionId: string;
  readonly backendId: string;
  /** Runs of one scope are cancelled together. @defaultValue none */
  readonly scopeKey?: string | undefined;
  /** Cancels the runs of the scope, and starts when they have ended. @defaultValue false */
  readonly replaceExistingScope?: boolean | undefined;
  /** @defaultValue the working directory of this process */
  readonly cwd?: string | undefined;
  /** The whole environment of the child. @defaultValue that of this process */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Limit on the run, in ms; what is not above 0 is none. @defaultValue none */
  readonly timeoutMs?: number | undefined;
  /** Limit without output, in ms; what is not above 0 is none. @defaultValue none */
  readonly noOutputTimeoutMs?: number | undefined;
  /** Whether {@link RunExit} has the output. @defaultValue true */
  readonly captureOutput?: boolean | undefined;
  /** Characters of each stream that are kept, the last ones; at least 256. @defaultValue 1048576 */
  readonly maxCapturedOutputChars?: number | undefined;
  /** Hears the output as it comes. Once it throws, that is told (`listener.failed`) and it is not called again; so for all of them. */
  readonly onStdout?: ((chunk: string) => void) | undefined;
  readonly onStderr?: ((chunk: string) => void) | undefined;
  /** Throws where the run is no longer wanted: then it is not started. */
  readonly assertCurrent?: (() => void) | undefined;
  /** Called right before the process is started; what it throws, {@link ProcessSupervisor.spawn} rejects with. */
  readonly beforeSpawn?: (() => void) | undefined;
  /** Told when the run is cancelled, or one of its limits passes. */
  readonly onCancel?: ((reason: TerminationReason) => void) | undefined;
  /** Accepted and without effect: the process tree is always ended here. */
  readonly cleanupOwnership?: 'external' | undefined;
}

/** A program with its arguments. */
export interface ChildRunInput extends RunInput {
  readonly mode: 'child';
  readonly argv: readonly string[];
  /** Gives further arguments, when the process is about to be started. */
  readonly resolveArgs?: (() => readonly string[]) | undefined;
  /** Written to the child, then closed unless `stdinMode` is `pipe-open`. */
  readonly input?: string | undefined;
  /** @defaultValue `pipe-closed`: a child that read the terminal of its gateway would be stopped by it */
  readonly stdinMode?: 'inherit' | 'pipe-open' | 'pipe-closed' | undefined;
  readonly onStdoutRaw?: ((chunk: Uint8Array) => void) | undefined;
  readonly onStderrRaw?: ((chunk: Uint8Array) => void) | undefined;
}

/** A line for a shell, which its owner has written as one: it goes to `/bin/sh -c`. */
export interface AnchoredShellRunInput extends RunInput {
  readonly mode: 'anchored-shell';
  readonly command: string;
}

/** What is started: a program with its arguments, or a line for a shell. */
export type SpawnInput = ChildRunInput | AnchoredShellRunInput;

/** What {@link ProcessSupervisor.reconcileOrphans} may be given. */
export interface ReconcileOrphansParams {
  readonly isSessionTracked: (sessionId: string) => boolean;
  /** @defaultValue 'manual-cancel' */
  readonly reason?: TerminationReason | undefined;
}

/**
 * The process supervisor of OpenClaw, in the shapes of both of its generations: the methods of the earlier one (`getRecord`,
 * `reconcileOrphans`, `cancelAll`) and those of the later one (`acquireScopeCleanup`, `shutdown`).
 */
export interface ProcessSupervisor {
  /**
   * Starts a run. Rejects where none was started: a program that is not there, wrong input, a stopped supervisor.
   */
  spawn(input: SpawnInput): Promise<ManagedRun>;
  /** Does nothing where no run of this id is under way. */
  cancel(runId: string, reason?: TerminationReason): void;
  cancelScope(scopeKey: string, reason?: TerminationReason): void;
  cancelAll(reason?: TerminationReason): void;
  /**
   * Ends what an earlier process of this store has left behind, and the runs of sessions that are no longer tracked.
   */
  reconcileOrphans(params?: ReconcileOrphansParams): Promise<{ readonly cancelledRunIds: readonly string[] }>;
  /** What is kept of a run: those under way, and the last 2,000 that ended. */
  getRecord(runId: string): RunRecord | undefined;
  /**
   * @returns a function that cancels the runs of the scope, those that are just starting too, and resolves when they have ended with their
   *   process trees. Further calls join the first.
   */
  acquireScopeCleanup(scopeKey: string, options?: object): () => Promise<void>;
  /** Cancels every run and resolves when all have ended; from the call on no run is started. Further calls join the first. */
  shutdown(): Promise<void>;
}
