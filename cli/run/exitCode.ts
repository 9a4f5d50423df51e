import { constants } from 'node:os';
import { isShortage } from '../../src/actors/process/face.ts';
import type { ProcessExit } from '../../src/machines/face.ts';
import type { AgentProfile } from '../../src/protocol/face.ts';
import { type Failure, type FailureFacts, type FailureKind, hintIn } from '../../src/policy/failures/face.ts';
import type { EndedBySignal } from '../io.ts';

/** Exit codes of `unwedge run` that are not the command's own. */
export const exitCodes = {
  tryLater: 75,
  timeout: 124,
  ownError: 125,
  cannotRun: 126,
  notFound: 127,
  brokenPipe: 141,
} as const;

/** Meanings of the exit codes of `unwedge run`, for its help and the docs. Any other is the command's own. */
export const runExitCodes: readonly (readonly [code: string, meaning: string])[] = [
  ['1', 'also: an agent spun, or spent the budget of its run'],
  ['75', 'try later: circuit, rate limit, overload, budget'],
  ['124', 'a limit passed'],
  ['125', 'an error of unwedge, wrong usage included'],
  ['126', 'the command cannot be run'],
  ['127', 'the command is not there'],
  ['128+n', 'the command, or unwedge, was ended by signal n'],
];

/** The same of `unwedge agent`. */
export const agentExitCodes: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'it answered'],
  ['1', 'it failed'],
  ['2', 'wrong usage'],
  ['75', 'try later: circuit, rate limit, overload, budget'],
  ['124', 'a limit passed'],
  ['125', 'an error of unwedge'],
  ['126', 'the agent cannot be run'],
  ['127', 'the agent is not there'],
  ['128+n', 'ended by signal n'],
];

/** As lines of help. */
export const exitCodeLines = (codes: typeof runExitCodes): readonly string[] =>
  codes.map(([code, meaning]) => `  ${code.padEnd(6)}${meaning}`);

const laterKinds: ReadonlySet<FailureKind> = new Set([
  'circuit_open',
  'too_many_requests',
  'unavailable',
  'rate_limit',
  'quota',
]);

/** Kinds of those that a command itself tells of. */
const readFromText: ReadonlySet<FailureKind> = new Set(['rate_limit', 'quota']);

/**
 * The exit code for a call that failed.
 * @param exit - how the last attempt's process ended; undefined when there was none.
 * @param isAgent - whether an agent told of the failure: its exit code says nothing then, and that of a plain command is its answer.
 * @param exits - worth of the exit code of the agent: one that is an HTTP status must not look like a signal.
 */
export function exitCodeOf(
  failure: Failure,
  exit: ProcessExit | undefined,
  isAgent: boolean,
  exits?: AgentProfile['exits'],
): number {
  // The words of a plain command on a limit are its own affair: its exit code is its answer.
  const isAnswer = !isAgent && exit?.exitCode !== undefined && readFromText.has(failure.kind);
  if ((laterKinds.has(failure.kind) && !isAnswer) || (isAgent && failure.kind === 'overloaded'))
    return exitCodes.tryLater;
  // This machine has no room for the process: there was nothing whose answer it could be.
  const hasEnded = exit?.exitCode !== undefined || exit?.signal !== undefined;
  if (!hasEnded && failure.kind === 'transient' && isShortage(failure)) return exitCodes.tryLater;
  if (failure.kind === 'spinning') return failure.outcome === 'not_started' ? exitCodes.tryLater : 1;
  if (endedByLimit(failure)) return exitCodes.timeout;
  // A shell that could not run what it was to has a code of its own.
  if (hasEnded) return exits === 'status' && exit.signal === undefined && codeOf(exit) > 128 ? 1 : codeOf(exit);
  return failure.code === 'ENOENT' ? exitCodes.notFound : exitCodes.cannotRun;
}

/** A command that exits with 124 itself has ended by a limit of its own, which comes to the same. */
function endedByLimit({ kind, reason }: Failure): boolean {
  return (
    kind === 'timeout' && (reason === 'idle_timeout' || reason === 'attempt_timeout' || reason === 'overall_timeout')
  );
}

/** Tells whether a process ends because nobody reads what it prints. */
export function isBrokenPipe({ reason }: AbortSignal): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'EPIPE';
}

/** The exit code of a process that was told to end, whatever its run or turn made of it. */
export function endedCode(signal: AbortSignal): number | undefined {
  const reason: unknown = signal.reason;
  if (!(reason instanceof Error)) return undefined;
  if (isBrokenPipe(signal)) return exitCodes.brokenPipe;
  return 'signal' in reason ? 128 + constants.signals[(reason as EndedBySignal).signal] : undefined;
}

function codeOf({ exitCode, signal }: ProcessExit): number {
  if (exitCode !== undefined && exitCode !== 0) return exitCode;
  const signals: Readonly<Record<string, number>> = constants.signals;
  // An agent may say that it failed, and exit with 0.
  return signal === undefined ? 1 : 128 + (signals[signal] ?? 0);
}

/**
 * Kinds by which a run counts as a failure of what the command needs: there was no answer, or it was that something behind is not
 * there. A usage limit keeps the circuit open until its reset.
 */
const counted: ReadonlySet<FailureKind> = new Set(['transient', 'overloaded', 'timeout', 'crash', 'spawn', 'quota']);
const ignored: ReadonlySet<FailureKind> = new Set(['rate_limit', 'cancelled', 'spinning']);

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
