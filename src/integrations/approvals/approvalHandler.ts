import { fromCallback } from 'xstate';
import {
  type ApprovalDecision,
  type ApprovalEvent,
  type ApprovalInput,
  approvalMachine,
} from '../../machines/approval.ts';
import { AttemptError } from '../../policy/failure.ts';
import { show } from '../../policy/options.ts';

/** Request for an approval. */
export interface ApprovalRequest {
  /** In short, for example the command to run. */
  readonly action: string;
  readonly session?: string | undefined;
  /** Data to judge by; neither stored nor told to anybody but the handler. */
  readonly payload?: unknown;
}

/** Answer that a handler may give; the word alone will do. Anything else is no answer, and declines. */
export interface ApprovalReply {
  readonly decision: ApprovalDecision;
  readonly reason?: string | undefined;
}

/** Asks a person or a policy. Its signal aborts when nobody waits for the answer any more. */
export type ApprovalHandler = (request: ApprovalRequest, context: { readonly signal: AbortSignal }) => unknown;

/** Hears of an answer that came after its question had ended. */
type LateAnswer = (input: ApprovalInput, answer: ApprovalDecision | 'none') => void;

/** {@link approvalMachine} with the user's handler in its slot. */
export function approvalLogic(handler: ApprovalHandler, onLate: LateAnswer) {
  return approvalMachine.provide({
    actors: {
      handler: fromCallback<ApprovalEvent, ApprovalInput>(({ input, sendBack }) => {
        const controller = new AbortController();
        let answered = false;
        let ended = false;
        const say = (event: AnswerEvent): void => {
          answered = true;
          if (ended) onLate(input, event.type === 'approval.answered' ? event.decision : 'none');
          else sendBack(event);
        };
        const { action, session, payload } = input;
        void ask(handler, { action, session, payload }, controller.signal).then(say);
        return () => {
          ended = true;
          if (!answered) controller.abort(noLonger(input));
        };
      }),
    },
  });
}

type AnswerEvent = Extract<ApprovalEvent, { type: 'approval.answered' | 'approval.failed' }>;

async function ask(handler: ApprovalHandler, request: ApprovalRequest, signal: AbortSignal): Promise<AnswerEvent> {
  let value: unknown;
  try {
    value = await handler(request, { signal });
  } catch (error) {
    return { type: 'approval.failed', failure: 'crash', error };
  }
  try {
    return read(value);
  } catch (error) {
    // A getter, or a revoked proxy.
    return { type: 'approval.failed', failure: 'unreadable', error };
  }
}

const decisions: readonly ApprovalDecision[] = ['accept', 'decline'];

function read(value: unknown): AnswerEvent {
  const reply = typeof value === 'object' && value !== null ? (value as Partial<Record<string, unknown>>) : {};
  const said = typeof value === 'string' ? value : reply['decision'];
  const decision = decisions.find((known) => known === said);
  if (decision === undefined) {
    const error = new Error(`The answer is neither accept nor decline, but ${show(said ?? value)}`);
    return { type: 'approval.failed', failure: 'unreadable', error };
  }
  const reason = typeof reply['reason'] === 'string' ? reply['reason'] : undefined;
  return { type: 'approval.answered', decision, reason, value };
}

function noLonger({ approval }: ApprovalInput): AttemptError {
  const message = `Nobody waits for the answer of ${approval} any more`;
  return new AttemptError({ kind: 'cancelled', message, outcome: 'cancelled' });
}
