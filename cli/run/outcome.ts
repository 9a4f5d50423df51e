import type { ProcessExit } from '../../src/machines/subprocess.ts';
import { hintIn } from '../../src/policy/exitCodes.ts';
import type { FailureFacts, FailureKind } from '../../src/policy/failure.ts';

/**
 * Kinds by which a run counts as a failure of what the command needs: there was no answer, or it was that something behind is not
 * there. A usage limit keeps the circuit open until its reset.
 */
const counted: ReadonlySet<FailureKind> = new Set(['transient', 'overloaded', 'timeout', 'crash', 'spawn', 'quota']);
const ignored: ReadonlySet<FailureKind> = new Set(['rate_limit', 'cancelled']);

/**
 * Gives the meaning of a failed run for the breaker and for alerts: an exit code of the command's own is an answer, and Ctrl-C is none of its doing.
 * @param isAgent - whether an agent tells of its limits; of a plain command they are words of its own, which open no circuit.
 * @param isInterrupted - whether Ctrl-C reached this process too: that the command ended by it is what was asked for.
 */
export function asRun(
  facts: FailureFacts,
  exit: ProcessExit | undefined,
  isAgent: boolean,
  isInterrupted = false,
): FailureFacts {
  if (isInterrupted && endedByInterrupt(exit)) {
    return { kind: 'cancelled', message: 'Ended by Ctrl-C.', outcome: 'cancelled', code: facts.code };
  }
  if (exit?.signal === 'SIGINT') return { ...facts, breaker: 'ignored' };
  const isOwnWord = !isAgent && facts.leaves === 'lost' && (facts.kind === 'quota' || facts.kind === 'rate_limit');
  if (isOwnWord) return { ...facts, breaker: 'alive', alerts: false };
  if (counted.has(facts.kind) || ignored.has(facts.kind)) return facts;
  const isAnswer = facts.kind === 'unknown' && exit?.reason === 'exit' && exit.exitCode !== 0;
  return { ...facts, breaker: 'alive', ...(isAnswer && { alerts: false, message: answerText(facts, exit) }) };
}

/** Returns the answer: if a command printed nothing its exit code is all it said. */
function answerText({ message }: FailureFacts, { exitCode, stdout, stderr }: ProcessExit): string {
  const isSilent = `${stdout.text}${stderr.text}`.trim() === '';
  const hint = hintIn(message);
  return isSilent ? `The command exited with ${exitCode}${hint === undefined ? '' : `, ${hint}`}.` : message;
}

/** A shell, or a program that handles the signal itself, reports 130. */
function endedByInterrupt(exit: ProcessExit | undefined): boolean {
  return exit?.signal === 'SIGINT' || exit?.exitCode === 130;
}
