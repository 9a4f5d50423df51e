import { constants } from 'node:os';
import { breakerOutcome } from '../../src/policy/face.ts';
import { formatDuration, lastLine } from '../../src/policy/text/face.ts';
import type { FailureKind } from '../../src/policy/failures/face.ts';
import { blockExitCode, judgeCommandHook, mayBlockOnFailure } from '../../src/protocol/face.ts';
import { sanitize } from '../sanitize.ts';
import type { OnFailure } from './hookArgs.ts';
import type { HookRun } from './hookChild.ts';

/** Why a hook counts as failed. */
export interface HookFailure {
  readonly kind: FailureKind;
  /** Message in one plain line. */
  readonly message: string;
  /** True where its circuit counts it. */
  readonly counts: boolean;
  /** The exit code by which it ended, where that was one of its own: it lives, and its host is told the code where it may not decline. */
  readonly exitCode?: number | undefined;
}

/** A hook that ended: by itself, by a failure, or because this process was told to end. */
type HookOutcome =
  | { readonly is: 'answered' | 'ignored'; readonly exitCode: number }
  | { readonly is: 'failed'; readonly failure: HookFailure };

/** The line of stderr that says what is wrong, in characters. */
const longestTail = 300;
/** Part in which it is looked for, in bytes from the end: frames of a stack may follow it. */
const tailBytes = 8192;

/**
 * The outcome on a run: any exit code of the hook's own proves life; crashes, hangs, floods and failed starts are failures. So are, of a
 * guard, JSON that cannot be read, and every exit code but 0 and 2: its hosts take it for no objection, and a program that throws ends so.
 */
export function judgeHook({ end, stdout, stderr, isCut = false }: HookRun, onFailure: OnFailure): HookOutcome {
  const tail = tailOf(stderr);
  const failed = (kind: FailureKind, what: string, counts = true): HookOutcome => ({
    is: 'failed',
    failure: { kind, message: tail === '' ? what : `${what}: ${tail}`, counts },
  });
  switch (end.how) {
    case 'exit': {
      const isDecided = end.exitCode === 0 || end.exitCode === blockExitCode;
      if (onFailure === 'block' && !isDecided) {
        const { exitCode } = end;
        const message = tail === '' ? `It exited with ${exitCode}` : `It exited with ${exitCode}: ${tail}`;
        return { is: 'failed', failure: { kind: 'permanent', message, counts: false, exitCode } };
      }
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

function tailOf(stderr: Buffer): string {
  const line = lastLine(stderr.subarray(-tailBytes).toString('utf8')) ?? '';
  return sanitize(line).slice(0, longestTail);
}
