import { markAs } from '../../src/calls/face.ts';
import type { IncomingRequest } from './rpc/rpcPeer.ts';
import { say } from '../../src/policy/text/face.ts';
import { type RpcId, recordIn } from '../../src/protocol/face.ts';
import {
  acceptance,
  type CodexQuestion,
  type CodexReply,
  notUnderstood,
  formOf,
  readQuestion,
  replyOfForm,
  refusal,
} from './protocol/questions.ts';
import type { BegunCommands } from './protocol/begunCommands.ts';
import type { Approver } from '../../src/integrations/approvals/face.ts';
import type { RunningTurn } from './codexRunningTurn.ts';
import type { CodexScope } from './codexOptions.ts';
import type { CodexTelemetry } from './codexTelemetry.ts';
import type { ThreadState } from './codexThreadState.ts';

interface Open {
  readonly id: RpcId;
  readonly turn: RunningTurn | undefined;
  readonly controller: AbortController;
}

/** Scope that the parts of one process of the app-server share. */
export interface RunScope {
  readonly codex: CodexScope;
  readonly approver: Approver;
  readonly telemetry: CodexTelemetry;
  readonly threads: Map<string, ThreadState>;
  /** Commands that the turns of all threads began. */
  readonly begun: BegunCommands;
  /** Work that an end in good order waits for. */
  readonly busy: Set<Promise<unknown>>;
}

/** Scope that questions go by. */
interface QuestionScope extends Pick<RunScope, 'approver' | 'telemetry' | 'threads'> {
  readonly codex: Pick<CodexScope, 'logger'> & { readonly runtime: Pick<CodexScope['runtime'], 'clock'> };
}

/** Questions of one app-server. Each request is answered once; whatever goes wrong declines. */
export class Questions {
  readonly #scope: QuestionScope;
  readonly #open = new Set<Open>();

  constructor(scope: QuestionScope) {
    this.#scope = scope;
  }

  ask(request: IncomingRequest): void {
    const { threads, codex } = this.#scope;
    const question = readQuestion(request.method, request.params);
    if (question === undefined) {
      say(codex.logger, 'warn', `Codex asks for ${request.method.slice(0, 200)}, which is not known here`);
      request.fail(notUnderstood(request.method));
      return;
    }
    const turn = question.thread === undefined ? undefined : threads.get(question.thread)?.turn;
    const entry: Open = { id: request.id, turn, controller: new AbortController() };
    if (turn?.signal !== undefined) markAs(entry.controller.signal, turn.signal);
    this.#open.add(entry);
    // An approver never rejects; if it did, the other side must not wait for ever.
    void this.#decide(request, question, entry).catch(() => request.answer(refusal(question, undefined)));
  }

  /** Codex does not wait for this answer any more. */
  resolved(request: RpcId): void {
    this.#withdraw(({ id }) => id === request, 'Codex does not wait for the answer any more');
  }

  /** Withdraws the questions of a turn that ended. */
  turnEnded(ended: RunningTurn): void {
    this.#withdraw(({ turn }) => turn === ended, 'The turn has ended');
  }

  /** Withdraws all of them: the connection is gone. */
  end(): void {
    this.#withdraw(() => true, 'The connection to Codex is gone');
  }

  #withdraw(which: (each: Open) => boolean, why: string): void {
    for (const each of [...this.#open]) if (which(each)) each.controller.abort(new Error(why));
  }

  async #decide(request: IncomingRequest, question: CodexQuestion, entry: Open): Promise<void> {
    const { codex, approver, telemetry } = this.#scope;
    const { clock } = codex.runtime;
    const { id } = request;
    const { turn, controller } = entry;
    const { kind, action, thread } = question;
    const approval = String(id);
    const askedAt = clock.now();
    telemetry.asked(id, question);
    turn?.tell({ type: 'approval.requested', approval, kind, action });
    // A person may take longer than a turn may be silent; the question has a limit of its own.
    const release = turn?.hold();
    const asked = { action, session: thread, payload: question, form: formOf(question) };
    const answer = await approver(asked, { signal: controller.signal });
    release?.();
    this.#open.delete(entry);
    const reply = replyOf(question, answer.value, answer.decision);
    const result = answer.decision === 'accept' && reply !== undefined ? acceptable(question, reply) : undefined;
    const lacking = answer.decision === 'accept' && result === undefined;
    const reason = lacking ? 'The answer lacks what it takes to accept' : answer.reason;
    if (lacking) say(codex.logger, 'warn', `${reason}: ${kind}`, { thread });
    const interrupts = reply?.interrupt === true && answer.failure === undefined;
    const isSent = request.answer(result ?? refusal(question, reason, interrupts));
    // A word that Codex never heard allowed nothing.
    const decision = isSent && result !== undefined ? 'accept' : 'decline';
    telemetry.answered(id, question, decision, clock.now() - askedAt, answer.failure === 'timeout');
    turn?.tell({ type: 'approval.resolved', approval, kind, decision, reason });
  }
}

/** Reads the answer of the handler, with the details it may have given; undefined when it throws while it is looked at. */
function replyOf(question: CodexQuestion, value: unknown, decision: CodexReply['decision']): CodexReply | undefined {
  try {
    const given = recordIn(value);
    const filled = given?.['way'] === undefined ? undefined : replyOfForm(question, given['value']);
    return { ...(given as Partial<CodexReply> | undefined), ...filled, decision };
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
