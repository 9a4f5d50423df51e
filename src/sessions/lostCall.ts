import type { Fact, FactOf } from '../policy/facts/facts.ts';
import type { Failure, FailureFacts } from '../policy/failures/failure.ts';
import { isRetryable } from '../policy/failures/repetition.ts';
import { messageId } from './mailbox.ts';
import type { LostCall, Recovered, StoredVerdict } from './sessionStore.ts';
import { errorResult, type ToolResult } from './toolResult.ts';

/** The answer to a call whose gateway died: it was dispatched, for all that is known, and its answer is lost. */
export function lostCallResult(call: LostCall, wallNow: number): ToolResult {
  return errorResult(lost(call), Math.max(0, wallNow - call.startedAt));
}

/** The record of a call whose gateway died. */
export function lostCallFact(call: LostCall): FactOf<'session.tool_failed'> {
  const { session, turn, tool, integration, effect } = call;
  const { kind, message, outcome } = lost(call);
  return {
    type: 'session.tool_failed',
    session,
    turn,
    call: call.call,
    tool,
    integration,
    kind,
    retries: 0,
    synthetic: true,
    outcome,
    effect,
    lost: true,
    message,
  };
}

/** Describes the end of a call whose gateway died. */
export function lostFacts({ tool }: Pick<LostCall, 'tool'>): FailureFacts {
  return { kind: 'crash', message: `The gateway ended while ${tool} was under way`, outcome: 'unknown' };
}

/** Mark of a kept call whose late answer, or the word that this is lost, an equal call was given. */
export const lateGiven: StoredVerdict = {
  verdict: 'done',
  how: 'a later call was given its answer',
  late: true,
  given: true,
};

function lost({ integration, tool, effect }: LostCall): Failure {
  const facts = lostFacts({ tool });
  return { ...facts, integration, attempts: 1, retryable: isRetryable(facts, effect, 'refused'), effect };
}

/**
 * Tells of a session that was taken up: which messages are not delivered any more, which calls were lost, and what goes on.
 * @param answered - lost calls that were answered, and told of, before it was claimed.
 */
export function recoveredFacts(
  session: string,
  { waiting, deadLetters, lost, open }: Recovered,
  answered = 0,
): readonly Fact[] {
  const letters = deadLetters.map(
    ({ reason, ...name }): Fact => ({
      type: 'session.dead_letter',
      session,
      message: messageId(session, name),
      reason,
    }),
  );
  const facts: readonly Fact[] = [...letters, ...lost.map(lostCallFact)];
  if (waiting.length + open.length + facts.length + answered === 0) return facts;
  const counts = {
    ...{ waiting: waiting.length, lostCalls: lost.length + answered },
    ...{ openCalls: open.length, deadLetters: deadLetters.length },
  };
  return [...facts, { type: 'session.resumed', session, ...counts }];
}
