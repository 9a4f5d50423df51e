import { constants } from 'node:os';
import { breakerOutcome } from '../../policy/breaker.ts';
import { formatDuration } from '../../policy/duration.ts';
import type { FailureKind } from '../../policy/failure.ts';
import { blockExitCode, judgeCommandHook } from '../../protocol/commandHook.ts';
import { mayBlockOnFailure } from '../../protocol/hookEvents.ts';
import { sanitize } from '../sanitize.ts';
import type { OnFailure } from './hookArgs.ts';
import type { HookRun } from './hookChild.ts';

/** Why a hook counts as failed. */
export interface HookFailure {
  readonly kind: FailureKind;
  /** One plain line. */
  readonly message: string;
  /** Whether its circuit counts it. */
  readonly counts: boolean;
}

/** A hook that ended: by itself, by a failure, or because this process was told to end. */
export type HookOutcome =
  | { readonly is: 'answered' | 'ignored'; readonly exitCode: number }
  | { readonly is: 'failed'; readonly failure: HookFailure };

/** The last line of stderr tells most; in characters. */
const longestTail = 300;

/**
 * The outcome on a run: any exit code of the hook's own proves life; crashes, hangs, floods and failed starts are failures, and so is
 * JSON of a guard that cannot be read.
 */
export function judgeHook({ end, stdout, stderr, isCut = false }: HookRun, onFailure: OnFailure): HookOutcome {
  const tail = lastLine(stderr);
  const failed = (kind: FailureKind, what: string, counts = true): HookOutcome => ({
    is: 'failed',
    failure: { kind, message: tail === '' ? what : `${what}: ${tail}`, counts },
  });
  switch (end.how) {
    case 'exit': {
      // A host takes JSON it cannot read for nothing: what a guard meant to say with it would be lost.
      const isJudged = (onFailure === 'block' || isCut) && end.exitCode === 0;
      const said = isJudged ? readOutput(stdout, isCut) : undefined;
      if (said?.ok === false) return failed('protocol', said.message);
      return { is: 'answered', exitCode: end.exitCode };
    }
    case 'signal':
      return failed('crash', `It crashed by ${end.signal}`);
    case 'timeout':
      return failed('timeout', `It did not end within ${formatDuration(end.limitMs)} and was ended`);
    case 'flood':
      return failed('protocol', 'It wrote more than 8 MiB and was ended');
    case 'spawn':
      return failed(end.facts.kind, end.facts.message, breakerOutcome(end.facts) === 'failure');
    case 'told':
      return { is: 'ignored', exitCode: 128 + constants.signals[end.signal] };
  }
}

/** Exit code of a hook that failed or was not run. */
export function failureExitCode(onFailure: OnFailure, event: string | undefined): number {
  return onFailure === 'block' && mayBlockOnFailure(event) ? blockExitCode : 0;
}

function readOutput(stdout: Buffer, isCut: boolean) {
  return judgeCommandHook('', { exitCode: 0, stdout: stdout.toString('utf8'), stderr: '', isCut });
}

function lastLine(stderr: Buffer): string {
  const lines = stderr
    .subarray(-4 * longestTail)
    .toString('utf8')
    .trimEnd()
    .split('\n');
  return sanitize(lines.at(-1) ?? '').slice(0, longestTail);
}
