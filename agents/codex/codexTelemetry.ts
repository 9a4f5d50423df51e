import type { RequestEnd } from './rpc/pendingRequest.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import type { Facts } from '../../src/policy/facts/face.ts';
import { type RpcId, recordIn } from '../../src/protocol/face.ts';
import type { TurnName } from './protocol/begunCommands.ts';
import type { CodexNotice } from './protocol/notifications.ts';
import type { CodexQuestion } from './protocol/questions.ts';
import { tellableParams } from './protocol/requests.ts';
import type { EndedCommands } from './codexTurnCommands.ts';

/** The facts of one connection. None of these throws. */
export type CodexTelemetry = ReturnType<typeof codexTelemetry>;

export function codexTelemetry(facts: Facts, integration: string, connection: number) {
  const about = { integration, connection };
  const concerning = (request: RpcId, { kind, thread, turn }: CodexQuestion) => ({
    ...about,
    request,
    kind,
    thread,
    turn,
  });
  return {
    started: (pid: number, elapsedMs: number) =>
      facts.tell({ type: 'codex.app_server.connection.start', ...about, pid, elapsedMs }),
    stopped: (reason: 'normal' | 'crashed' | 'killed', message: string, elapsedMs: number) =>
      facts.tell({ type: 'codex.app_server.connection.stop', ...about, reason, message, elapsedMs }),
    trouble: ({ kind, reason, message }: FailureFacts) =>
      facts.tell({ type: 'codex.app_server.connection.error', ...about, kind, reason, error: message }),
    requested(request: number, method: string, params: unknown): void {
      if (!facts.wants('codex.app_server.request.start')) return;
      const told = tellableParams(recordIn(params));
      facts.tell({ type: 'codex.app_server.request.start', ...about, request, method, params: told });
    },
    requestEnded({ id: request, method, elapsedMs, how, limitMs, facts: failed }: RequestEnd): void {
      const error = failed?.message;
      if (how === 'timeout') {
        const said = error ?? 'no answer in time';
        const fact = { ...about, request, method, elapsedMs, limitMs, error: said };
        facts.tell({ type: 'codex.app_server.request.timeout', ...fact });
      } else {
        const ok = how === 'answered';
        facts.tell({ type: 'codex.app_server.request.stop', ...about, request, method, ok, elapsedMs, error });
      }
    },
    notified(method: string, notice: CodexNotice): void {
      const strange = notice.kind === 'malformed' || (notice.kind === 'other' && !notice.known);
      const { thread, turn } = notice;
      if (strange)
        facts.tell({ type: 'codex.app_server.notification.unknown', ...about, method: method.slice(0, 200) });
      else if (facts.wants('codex.app_server.notification.received')) {
        facts.tell({ type: 'codex.app_server.notification.received', ...about, method, thread, turn });
      }
    },
    commandsEnded: (turn: TurnName, { ended, left }: EndedCommands) =>
      facts.tell({ type: 'codex.app_server.turn.commands_ended', ...about, ...turn, ended, left }),
    asked: (request: RpcId, question: CodexQuestion) =>
      facts.tell({ type: 'codex.app_server.approval.requested', ...concerning(request, question) }),
    answered(
      request: RpcId,
      question: CodexQuestion,
      decision: 'accept' | 'decline',
      elapsedMs: number,
      timedOut: boolean,
    ): void {
      const fact = { ...concerning(request, question), elapsedMs };
      if (timedOut) facts.tell({ type: 'codex.app_server.approval.timeout', ...fact, decision: 'decline' });
      else facts.tell({ type: 'codex.app_server.approval.completed', ...fact, decision });
    },
  };
}
