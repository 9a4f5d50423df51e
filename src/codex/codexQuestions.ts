import type { IncomingRequest } from '../actors/rpc/rpcPeerTypes.ts';
import type { Approver } from '../integrations/approvals/approvals.ts';
import type { Clock } from '../policy/clock.ts';
import { type Logger, say } from '../policy/logger.ts';
import { recordIn } from '../protocol/agentReport.ts';
import type { RpcId } from '../protocol/jsonRpc.ts';
import {
  acceptance,
  type CodexQuestion,
  type CodexReply,
  notUnderstood,
  readQuestion,
  refusal,
} from '../protocol/codex/questions.ts';
import type { CodexTelemetry } from './codexTelemetry.ts';
import type { RunningTurn } from './codexRunningTurn.ts';

export interface QuestionsParts {
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  readonly approver: Approver;
  readonly telemetry: CodexTelemetry;
  /** The turn of ours in a thread. */
  readonly turnOf: (thread: string) => RunningTurn | undefined;
}

/** What one app-server asks. Each request is answered once; whatever goes wrong declines. */
export interface Questions {
  ask(request: IncomingRequest): void;
  /** Codex does not wait for this answer any more. */
  resolved(request: RpcId): void;
  /** Withdraws the questions of a turn that ended. */
  turnEnded(turn: RunningTurn): void;
  /** Withdraws all of them: the connection is gone. */
  end(): void;
}

interface Open {
  readonly id: RpcId;
  readonly turn: RunningTurn | undefined;
  readonly controller: AbortController;
}

export function createQuestions({ clock, logger, approver, telemetry, turnOf }: QuestionsParts): Questions {
  const open = new Set<Open>();

  const withdraw = (which: (each: Open) => boolean, why: string): void => {
    for (const each of [...open]) if (which(each)) each.controller.abort(new Error(why));
  };

  async function decide(request: IncomingRequest, question: CodexQuestion, entry: Open): Promise<void> {
    const { id } = request;
    const { turn, controller } = entry;
    const { kind, action, thread } = question;
    const approval = String(id);
    const askedAt = clock.now();
    telemetry.asked(id, question);
    turn?.tell({ type: 'approval.requested', approval, kind, action });
    // A person may take longer than a turn may be silent; the question has a limit of its own.
    const release = turn?.hold();
    const answer = await approver({ action, session: thread, payload: question }, { signal: controller.signal });
    release?.();
    open.delete(entry);
    const reply = replyOf(answer.value, answer.decision);
    const result = answer.decision === 'accept' && reply !== undefined ? acceptable(question, reply) : undefined;
    const lacking = answer.decision === 'accept' && result === undefined;
    const reason = lacking ? 'The answer lacks what it takes to accept' : answer.reason;
    if (lacking) say(logger, 'warn', `${reason}: ${kind}`, { thread });
    const interrupts = reply?.interrupt === true && answer.failure === undefined;
    const isSent = request.answer(result ?? refusal(question, reason, interrupts));
    // What Codex never heard was not allowed.
    const decision = isSent && result !== undefined ? 'accept' : 'decline';
    telemetry.answered(id, question, decision, clock.now() - askedAt, answer.failure === 'timeout');
    turn?.tell({ type: 'approval.resolved', approval, kind, decision, reason });
  }

  return {
    ask(request) {
      const question = readQuestion(request.method, request.params);
      if (question === undefined) {
        say(logger, 'warn', `Codex asks for ${request.method.slice(0, 200)}, which is not known here`);
        request.fail(notUnderstood(request.method));
        return;
      }
      const turn = question.thread === undefined ? undefined : turnOf(question.thread);
      const entry: Open = { id: request.id, turn, controller: new AbortController() };
      open.add(entry);
      // An approver never rejects; if it did, the other side must not wait for ever.
      void decide(request, question, entry).catch(() => request.answer(refusal(question, undefined)));
    },
    resolved: (id) => withdraw((each) => each.id === id, 'Codex does not wait for the answer any more'),
    turnEnded: (turn) => withdraw((each) => each.turn === turn, 'The turn has ended'),
    end: () => withdraw(() => true, 'The connection to Codex is gone'),
  };
}

/** What the handler answered, with the details it may have given; undefined when it throws while it is looked at. */
function replyOf(value: unknown, decision: 'accept' | 'decline'): CodexReply | undefined {
  try {
    return { ...(recordIn(value) as Partial<CodexReply> | undefined), decision };
  } catch {
    return undefined;
  }
}

/** A reply may hold anything, also what throws when it is looked at, or cannot be written. */
function acceptable(question: CodexQuestion, reply: CodexReply): unknown {
  try {
    const result = acceptance(question, reply);
    JSON.stringify(result);
    return result;
  } catch {
    return undefined;
  }
}
