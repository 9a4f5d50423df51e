import type { FactOf } from '../policy/facts.ts';
import type { Failure, FailureFacts } from '../policy/failure.ts';
import { isRetryable } from '../policy/repetition.ts';
import type { LostCall } from './sessionStore.ts';
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

function lost({ integration, tool, effect }: LostCall): Failure {
  const facts = lostFacts({ tool });
  return { ...facts, integration, attempts: 1, retryable: isRetryable(facts, effect, 'refused'), effect };
}
