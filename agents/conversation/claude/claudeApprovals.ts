import { markAs } from '../../../src/calls/face.ts';
import type { ApprovalAnswer, ApprovalHandler, Approver } from '../../../src/integrations/approvals/face.ts';
import { recordIn, textIn } from '../../../src/protocol/face.ts';
import { actionOf } from '../agentAction.ts';
import type { SdkCanUseTool, SdkPermission, SdkPermissionContext } from './agentSdkTypes.ts';
import type { Sink } from '../agentStream.ts';
import type { AgentApproval } from '../agentTypes.ts';

/** The turn in which a question is asked. */
export interface AskingTurn {
  readonly sink: Sink;
  readonly signal: AbortSignal;
  waitForPerson(): () => void;
}

/** The SDK's callback as a handler of approvals: what it answers is kept, and judged by its `behavior` alone. */
export function handlerOf(canUseTool: SdkCanUseTool): ApprovalHandler {
  return async ({ payload }, { signal }) => {
    const { tool, input, context } = payload as AgentApproval & { readonly context: SdkPermissionContext };
    const answer = recordIn(
      await canUseTool(tool, (recordIn(input) ?? {}) as Record<string, unknown>, { ...context, signal }),
    );
    const behavior = answer?.['behavior'];
    const decision = behavior === 'allow' ? 'accept' : behavior === 'deny' ? 'decline' : behavior;
    return { decision, reason: textIn(answer?.['message']), answer };
  };
}

/** The callback that the SDK gets: it always answers, and declines when nobody else does in time. */
export function createCanUseTool(
  approver: Approver,
  conversation: () => string | undefined,
  turn: () => AskingTurn | undefined,
): SdkCanUseTool {
  let asked = 0;
  return async (tool, input, context) => {
    const asking = turn();
    const id = context.toolUseID ?? `question-${++asked}`;
    const action = actionOf(input);
    const release = asking?.waitForPerson();
    asking?.sink({ type: 'approval.requested', id, tool, action });
    const signals = [context.signal, asking?.signal].filter((each) => each instanceof AbortSignal);
    const signal = AbortSignal.any(signals);
    markAs(signal, asking?.signal);
    const answer = await approver(
      {
        action: action === '' ? tool : `${tool}: ${action}`,
        session: conversation(),
        payload: { tool, input, context },
      },
      { signal },
    );
    release?.();
    const { decision, reason } = answer;
    asking?.sink({ type: 'approval.resolved', id, tool, decision, reason });
    return permission(answer, input, asking?.signal.aborted === true);
  };
}

function permission(answer: ApprovalAnswer, input: Record<string, unknown>, isOver: boolean): unknown {
  const { decision, reason, failure, value } = answer;
  const given = recordIn(recordIn(value)?.['answer']);
  // Words of the user's own callback pass as they are.
  if (failure === undefined && given !== undefined) return given;
  if (decision === 'accept') return { behavior: 'allow', updatedInput: input } satisfies SdkPermission;
  return {
    behavior: 'deny',
    message: reason ?? 'Declined',
    ...(isOver && { interrupt: true }),
  } satisfies SdkPermission;
}
