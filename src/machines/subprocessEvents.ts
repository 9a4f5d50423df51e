import type { ProcessExit, ProcessExitReason, ReadOutput } from './subprocessExit.ts';
import type { OutputStream } from './subprocessInput.ts';

/** Why the owner ends a run: on request, or because a limit passed that the owner keeps itself. */
type KillReason = Extract<ProcessExitReason, 'cancelled' | 'overall-timeout' | 'no-output-timeout'>;

/** The signal that asks a process to end; SIGKILL follows after its grace time. */
export type EndSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

/** Events of the slot and orders from outside. */
export type SubprocessEvent =
  | ProcessKill
  /** A sign of life that is not output. */
  | { readonly type: 'process.progress' }
  | { readonly type: 'shutdown' }
  | { readonly type: 'process.spawned'; readonly pid: number }
  | { readonly type: 'process.failed'; readonly error: unknown }
  | ProcessOutput
  | ProcessExited
  | ProcessClosed
  /** `onOutput` threw; it is not called again. */
  | { readonly type: 'process.listener_failed'; readonly error: unknown }
  /** The process and all known descendants are gone, or beyond reach. */
  | { readonly type: 'process.terminated' };

export interface ProcessKill {
  readonly type: 'process.kill';
  readonly reason?: KillReason | undefined;
  readonly signal?: EndSignal | undefined;
}

export interface ProcessOutput {
  readonly type: 'process.output';
  readonly stream: OutputStream;
  /** New bytes of this stream. */
  readonly bytes: number;
  /** Bytes of both streams so far. */
  readonly totalBytes: number;
}

export interface ProcessExited {
  readonly type: 'process.exited';
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
}

/** Both streams have ended, or were given up. */
export interface ProcessClosed extends ReadOutput {
  readonly type: 'process.closed';
}

/** Orders to the slot. */
export type ProcessOrder =
  /** End the process and its descendants; answered by `process.terminated`. */
  | { readonly type: 'process.terminate'; readonly graceMs: number; readonly signal?: EndSignal | undefined }
  /** Read to the end of both streams, and give up one that another process holds and leaves silent for so long; answered by `process.closed`. */
  | { readonly type: 'process.drain'; readonly quietMs: number };

export type SubprocessEmitted =
  | { readonly type: 'process.started'; readonly pid: number; readonly command: string }
  | { readonly type: 'process.output'; readonly stream: OutputStream; readonly bytes: number }
  | ({ readonly type: 'process.exited'; readonly pid: number | undefined } & Pick<
      ProcessExit,
      'reason' | 'exitCode' | 'signal' | 'elapsedMs'
    >);

/** `onOutput` threw; a fact of its own, not one of the process. */
export interface OutputListenerFailed {
  readonly type: 'listener.failed';
  readonly event: 'process.output';
  readonly error: string;
  readonly stack?: string | undefined;
}
