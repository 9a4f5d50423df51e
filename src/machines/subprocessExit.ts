import { limitText } from '../policy/text/duration.ts';
import type { FailureReason } from '../policy/failures/failure.ts';
import { type SubprocessRun, usualName } from './subprocessInput.ts';

/** Why a run ended; the first reason wins. */
export type ProcessExitReason =
  | 'exit'
  | 'signal'
  | 'overall-timeout'
  | 'no-output-timeout'
  | 'cancelled'
  | 'output-limit'
  /** It exited by itself, and the end of its output was given up: a process that it started goes on and holds its pipe. */
  | 'output-cut'
  | 'spawn-error';

/** Part of one output stream that is kept: its first 64 kB and its last 256 kB. */
export interface CapturedOutput {
  /** UTF-8; a line says how many bytes were left out in the middle. */
  readonly text: string;
  /** Bytes written in all. */
  readonly bytes: number;
  readonly omittedBytes: number;
}

/** Output that was read of a run. */
export interface ReadOutput {
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** True where a stream was given up before its end: a process that goes on held it. @defaultValue false */
  readonly isCut?: boolean | undefined;
  /** Names of processes that it left running when it exited by itself. @defaultValue none */
  readonly leftRunning?: readonly string[] | undefined;
}

/** End of a run. */
export interface ProcessExit {
  readonly reason: ProcessExitReason;
  /** Absent when the process did not exit by itself, or was never seen to. */
  readonly exitCode?: number | undefined;
  /** The signal that ended it. */
  readonly signal?: string | undefined;
  /** Absent when it was never started. */
  readonly pid?: number | undefined;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** True where a stream was given up before its end, as another process held it: what it would have said is not known. @defaultValue false */
  readonly outputCut?: boolean | undefined;
  /** Names of processes that it left running when it exited by itself, of the first five: they were ended. @defaultValue none */
  readonly leftRunning?: readonly string[] | undefined;
  readonly elapsedMs: number;
  /** Wall time of the end, in ms since the epoch. */
  readonly endedAt: number;
  /** Error at the start, of reason `spawn-error`. */
  readonly error?: unknown;
  /** Plain line for people. */
  readonly message: string;
}

/** Facts that are known of a run that ends. */
export interface RunFacts extends Partial<Pick<ProcessExit, 'reason' | 'exitCode' | 'signal' | 'pid' | 'error'>> {
  readonly input: SubprocessRun;
  /** Monotonic time of the start, in ms. */
  readonly startedAt: number;
  readonly captured?: ReadOutput | undefined;
}

const nothing: CapturedOutput = { text: '', bytes: 0, omittedBytes: 0 };

/** The end of a run, now. */
export function conclusion(run: RunFacts): ProcessExit {
  const { input, exitCode, signal, pid, error, captured, startedAt } = run;
  const reason = reasonOf(run);
  return {
    reason,
    exitCode,
    signal,
    pid,
    stdout: captured?.stdout ?? nothing,
    stderr: captured?.stderr ?? nothing,
    ...(captured?.isCut === true && { outputCut: true }),
    ...(captured?.leftRunning !== undefined && { leftRunning: captured.leftRunning }),
    elapsedMs: Math.round(input.clock.now() - startedAt),
    endedAt: input.clock.wallNow(),
    error,
    message: messageOf(reason, run),
  };
}

/** The first reason wins, but that half of its output is no whole one. */
function reasonOf({ reason = 'exit', captured }: RunFacts): ProcessExitReason {
  return reason === 'exit' && captured?.isCut === true ? 'output-cut' : reason;
}

function messageOf(reason: ProcessExitReason, { input, exitCode, signal, error }: RunFacts): string {
  const { calledAs = usualName } = input;
  switch (reason) {
    case 'exit':
      return `${calledAs} exited with code ${exitCode ?? 'unknown'}.`;
    case 'signal':
      return `${calledAs} was ended by ${signal ?? 'a signal'}.`;
    case 'overall-timeout':
      return overallExceeded(calledAs, input.overallMs);
    case 'no-output-timeout':
      return outputMissing(calledAs, input.idleMs);
    case 'cancelled':
      return `${calledAs} was cancelled and terminated.`;
    case 'output-limit':
      return `${calledAs} produced more than ${input.maxOutputBytes ?? 0} bytes and was terminated.`;
    case 'output-cut':
      return `${calledAs} exited with code ${exitCode ?? 'unknown'}, and a process that it started goes on and holds its output: the end of it is not known.`;
    case 'spawn-error':
      return error instanceof Error ? error.message : `${calledAs} could not be started.`;
  }
}

/** @param limitMs - undefined when another than the machine held the limit. */
function overallExceeded(calledAs: string, limitMs: number | undefined): string {
  return `${calledAs} exceeded timeout${limitMs === undefined ? '' : ` (${limitText(limitMs)})`} and was terminated.`;
}

/** @param limitMs - undefined when another than the machine held the limit. */
function outputMissing(calledAs: string, limitMs: number | undefined): string {
  return `${calledAs} produced no output${limitMs === undefined ? '' : ` for ${limitText(limitMs)}`} and was terminated.`;
}

/** Makes the text of a limit that the call path holds, for a command that messages call this. */
export function timeoutText(calledAs: string): (reason: FailureReason, limitMs: number) => string {
  return (reason, limitMs) =>
    reason === 'idle_timeout' ? outputMissing(calledAs, limitMs) : overallExceeded(calledAs, limitMs);
}

/** Why a run ended, as OpenClaw's process supervisor says it (`TerminationReason`). */
export type OpenClawReason =
  | 'manual-cancel'
  | 'overall-timeout'
  | 'no-output-timeout'
  | 'spawn-error'
  | 'signal'
  | 'exit';

/** OpenClaw has no limit on output: a run that is ended for it is one that its owner cancelled. */
const reasons: Readonly<Record<ProcessExitReason, OpenClawReason>> = {
  exit: 'exit',
  signal: 'signal',
  'overall-timeout': 'overall-timeout',
  'no-output-timeout': 'no-output-timeout',
  cancelled: 'manual-cancel',
  'output-limit': 'manual-cancel',
  'output-cut': 'manual-cancel',
  'spawn-error': 'spawn-error',
};

/** OpenClaw's name for the reason of an exit: `cancelled` and `output-limit` are its `manual-cancel`, the others are called the same. */
export function openClawReason(reason: ProcessExitReason): OpenClawReason {
  return reasons[reason];
}
