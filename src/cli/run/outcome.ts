import type { ProcessExit } from '../../machines/subprocess.ts';
import type { FailureFacts, FailureKind } from '../../policy/failure.ts';

/**
 * Kinds by which a run counts as a failure of what the command needs: there was no answer, or it was that something behind is not
 * there. A usage limit keeps the circuit open until its reset.
 */
const counted: ReadonlySet<FailureKind> = new Set(['transient', 'overloaded', 'timeout', 'crash', 'spawn', 'quota']);
const ignored: ReadonlySet<FailureKind> = new Set(['rate_limit', 'cancelled']);

/** What a failed run means to the breaker: an exit code of the command's own is an answer, and Ctrl-C is none of its doing. */
export function asRun(facts: FailureFacts, exit: ProcessExit | undefined): FailureFacts {
  if (exit?.signal === 'SIGINT') return { ...facts, breaker: 'ignored' };
  return counted.has(facts.kind) || ignored.has(facts.kind) ? facts : { ...facts, breaker: 'alive' };
}
