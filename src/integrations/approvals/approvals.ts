import { errorText, stackOf } from '../../calls/errorText.ts';
import { sessionOfWork } from '../../calls/workSignal.ts';
import {
  type ApprovalDecision,
  type ApprovalEmitted,
  type ApprovalEnd,
  type ApprovalEvent,
  type ApprovalFailure,
  type ApprovalInput,
  approvalMachine,
} from '../../machines/approval.ts';
import { callback, duration, type Given, name as anyName } from '../../policy/options/optionKeys.ts';
import { readOptions, readValue } from '../../policy/options/readOptions.ts';
import type { ApprovalFact } from '../../policy/facts/agentFacts.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { QuestionForm } from '../../policy/records/question.ts';
import type { Asking, Inbox } from '../../sessions/inbox.ts';
import { fromCallback } from 'xstate';
import { AttemptError } from '../../policy/failures/failure.ts';
import { show } from '../../policy/options/options.ts';

/** End of a question. It is accepted only if somebody said so. */
export interface ApprovalAnswer {
  readonly decision: ApprovalDecision;
  readonly reason?: string | undefined;
  /** Answer of the handler. */
  readonly value?: unknown;
  /** Why it was declined without an answer; `unavailable`: nobody could be asked. */
  readonly failure?: ApprovalFailure | 'unavailable' | undefined;
}

/** Asks once. Never rejects: whatever goes wrong declines. Aborting the signal withdraws the question, which declines too. */
export type Approver = (
  request: ApprovalRequest,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<ApprovalAnswer>;

const approvalKeys = {
  /** Longest wait of a question for its answer, in ms, above 0; then it is declined. @defaultValue 30000, or that of the inbox where one is on */
  overallMs: duration(),
};

/** Limit on the wait of an approval. */
export interface ApprovalOptions extends Given<typeof approvalKeys> {}
/** Questions that wait at once, for each handler; one more is declined. */
const maxWaiting = 1000;
/** Time beyond a deadline for the inbox to say how a question ended, in ms. */
const inboxGraceMs = 5000;

/** Parts of the runtime that approvals need. */
type ApprovalRuntime = Pick<Runtime, 'clock' | 'bus' | 'root' | 'running' | 'inbox'>;

/**
 * Wraps a handler so that its silence and its crash decline, with a record. Each question is a temporary child of the root
 * supervisor, with a deadline of its own: no session's watchdog looks at it. Where an inbox is on, each is a row of it as well.
 * @param handler - undefined where the inbox alone is asked.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseApproval(
  runtime: ApprovalRuntime,
  name: string,
  handler: ApprovalHandler | undefined,
  options: ApprovalOptions = {},
  kind: ApprovalKind = approvalKind,
): Approver {
  const { clock, bus, root, inbox } = runtime;
  readValue('name', name, anyName);
  if (inbox === undefined || handler !== undefined) readValue('handler', handler, callback({ required: true }));
  const { overallMs: givenMs = inbox?.overallMs ?? 30_000 } = readOptions('options', options, approvalKeys);
  const overallMs = inbox === undefined ? givenMs : givenMs + inboxGraceMs;
  const asks =
    inbox === undefined
      ? (handler as ApprovalHandler)
      : inInbox({ inbox, kind, asker: name, overallMs: givenMs }, handler);
  const endedAt = new Map<string, number>();
  let waiting = 0;
  let asked = 0;

  const logic = approvalLogic(asks, (input, decision) => {
    const lateByMs = clock.now() - (endedAt.get(input.request) ?? clock.now());
    endedAt.delete(input.request);
    bus.tell({ type: 'approval.late', ...about(input), decision, lateByMs });
  });

  return (request, { signal } = {}) => {
    const id = `approval:${name}:${++asked}`;
    const within = inbox && sessionOfWork(signal);
    const input: ApprovalInput = { ...fieldsOf(request), within, approval: name, request: id, overallMs };
    if (signal?.aborted === true) return Promise.resolve({ decision: 'decline', failure: 'cancelled' });
    if (!runtime.running) return Promise.resolve(unavailable(input, 'The gateway is not running'));
    if (waiting >= maxWaiting) return Promise.resolve(unavailable(input, `${maxWaiting} questions wait already`));
    return ask(input, signal);
  };

  function ask(input: ApprovalInput, signal: AbortSignal | undefined): Promise<ApprovalAnswer> {
    const startedAt = clock.now();
    waiting++;
    // The answer is owed: a process with nothing else to do waits for it.
    const hold = clock.setTimeout(() => undefined, overallMs, { ref: true });
    return new Promise((resolve) => {
      let end: ApprovalEnd = { decision: 'decline', failure: 'crash' };
      const cancel = (): void => root.ref(input.request)?.send({ type: 'approval.cancel' });
      const settle = (error: unknown): void => {
        waiting--;
        clock.clearTimeout(hold);
        signal?.removeEventListener('abort', cancel);
        if (end.failure === 'timeout' || end.failure === 'cancelled') remember(input.request);
        if (error !== undefined) end = { decision: 'decline', failure: 'crash', error };
        tellEnd(input, end, clock.now() - startedAt);
        const { decision, reason, value, failure } = end;
        resolve({ decision, reason: reason ?? (failure === undefined ? undefined : texts[failure]), value, failure });
      };
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        root.startChild({
          id: input.request,
          logic,
          input,
          restart: 'temporary',
          onStart: (ref) => {
            ref.on('*', (event: unknown) => {
              const emitted = event as ApprovalEmitted;
              if (emitted.type === 'approval.completed') end = emitted.end;
              else bus.tell({ type: 'approval.requested', ...about(input) });
            });
          },
          onExit: ({ error }) => settle(error),
        });
      } catch (error) {
        settle(error);
      }
    });
  }

  function unavailable(input: ApprovalInput, reason: string): ApprovalAnswer {
    bus.tell({ type: 'approval.failed', ...about(input), failure: 'unavailable', error: reason, elapsedMs: 0 });
    return { decision: 'decline', reason, failure: 'unavailable' };
  }

  /** Nothing may pile up of handlers that never answer. */
  function remember(request: string): void {
    endedAt.set(request, clock.now());
    const [oldest] = endedAt.keys();
    if (endedAt.size > maxWaiting && oldest !== undefined) endedAt.delete(oldest);
  }

  function tellEnd(input: ApprovalInput, { decision, reason, failure, error }: ApprovalEnd, elapsedMs: number): void {
    if (failure === undefined || failure === 'cancelled' || failure === 'stopped') {
      bus.tell({ type: 'approval.completed', ...about(input), decision, by: failure ?? 'answer', reason, elapsedMs });
      return;
    }
    const text = errorText(error) ?? (error === undefined ? texts[failure] : show(error));
    bus.tell({ type: 'approval.failed', ...about(input), failure, error: text, stack: stackOf(error), elapsedMs });
  }
}

const texts: Readonly<Record<ApprovalFailure, string>> = {
  timeout: 'Nobody answered in time',
  crash: 'Asking for approval failed',
  unreadable: 'The answer cannot be read',
  cancelled: 'The question was withdrawn',
  stopped: 'The gateway stopped before there was an answer',
};

function about({ approval, request, action, session }: ApprovalInput): ApprovalFact {
  return { approval, request, action, session };
}

/** A request may come from an agent, and be anything. */
function fieldsOf({
  action,
  session,
  payload,
  place,
  form,
}: ApprovalRequest): Pick<ApprovalInput, 'action' | 'session' | 'payload' | 'place' | 'form'> {
  return { action: typeof action === 'string' ? action : show(action), session, payload, place, form };
}

/** Request for an approval. */
export interface ApprovalRequest {
  /** In short, for example the command to run. */
  readonly action: string;
  readonly session?: string | undefined;
  /** Data to judge by, for the handler; without secrets for who reads the inbox as well. */
  readonly payload?: unknown;
  /**
   * Names the question among those of this approval, where an inbox is on: asked again, as after a restart, it waits on, or has the answer of before.
   * @defaultValue in a turn of `session` its message, action, payload and number; elsewhere each is another one
   */
  readonly place?: string | undefined;
  /** Form of the answer where the inbox gives it, which comes as `value`. @defaultValue yes or no */
  readonly form?: QuestionForm | undefined;
  /** Id of the question in the inbox, for the handler. */
  readonly question?: string | undefined;
}

/** Answer that a handler may give; the word alone will do. Anything else is no answer, and declines. */
export interface ApprovalReply {
  readonly decision: ApprovalDecision;
  readonly reason?: string | undefined;
}

/** Asks a person or a policy. Its signal aborts when nobody waits for the answer any more. */
export type ApprovalHandler = (request: ApprovalRequest, context: { readonly signal: AbortSignal }) => unknown;

/** Kind of questions of one asker. */
interface ApprovalKind extends Pick<Asking, 'source'> {
  /** Makes what people are shown of a payload: the same for a question that is asked again in another process. @defaultValue all of it */
  readonly detailOf?: ((payload: unknown) => unknown) | undefined;
}

const approvalKind: ApprovalKind = { source: 'approval' };

/** Permission of an agent for one of its tools. What else it says, such as ids of the call, differs each time it asks. */
export const permissionOfTool: ApprovalKind = {
  source: 'permission',
  detailOf: (payload) => {
    const { tool, input } = payload as { readonly tool?: unknown; readonly input?: unknown };
    return { tool, input };
  },
};

/** A request with the session of the gateway in a turn of which it is made. */
type InboxRequest = ApprovalRequest & Pick<ApprovalInput, 'within'>;
type InboxHandler = (request: InboxRequest, context: { readonly signal: AbortSignal }) => unknown;

/** Hears of an answer that came after its question had ended. */
type LateAnswer = (input: ApprovalInput, answer: ApprovalDecision | 'none') => void;

/** Puts each question in the inbox, and to the handler; one that returns undefined leaves it to the inbox. An answer given there has `by` and `text`. */
function inInbox(
  { inbox, kind, asker, overallMs }: Pick<Asking, 'asker'> & { inbox: Inbox; kind: ApprovalKind; overallMs: number },
  handler: ApprovalHandler | undefined,
): InboxHandler {
  return async ({ within, ...request }, context) => {
    const { action, payload, place, form } = request;
    const { source, detailOf } = kind;
    const detail = detailOf === undefined ? payload : detailOf(payload);
    const { end, question, answer, error, text } = await inbox.ask({
      ...{ source, asker, session: within ?? request.session, what: action, detail, form, overallMs },
      ...{ signal: context.signal, place: place === undefined ? undefined : [asker, place] },
      handler:
        handler &&
        (async ({ id }, signal) => {
          const value = await handler({ ...request, question: id }, { signal });
          if (value === undefined) return undefined;
          const event = read(value);
          const { decision = 'decline', reason } = event.type === 'approval.answered' ? event : {};
          return { decision, reason, value };
        }),
    });
    if (end === 'unkept' && handler !== undefined) return handler(request, context);
    if (end === 'expired') throw noAnswerInTime;
    if (answer === undefined || end === 'failed') throw error ?? new Error(text);
    const { decision, reason, by, way, value } = answer;
    return way === 'handler' ? value : { decision, reason, by, way, value, text, question: question?.id };
  };
}

const noAnswerInTime = new Error('Nobody answered in time');

/** {@link approvalMachine} with the user's handler in its slot. */
function approvalLogic(handler: InboxHandler, onLate: LateAnswer) {
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
        const { action, session, payload, place, form, within } = input;
        void ask(handler, { action, session, payload, place, form, within }, controller.signal).then(say);
        return () => {
          ended = true;
          if (!answered) controller.abort(noLonger(input));
        };
      }),
    },
  });
}

type AnswerEvent = Extract<ApprovalEvent, { type: 'approval.answered' | 'approval.failed' }>;

async function ask(handler: InboxHandler, request: InboxRequest, signal: AbortSignal): Promise<AnswerEvent> {
  let value: unknown;
  try {
    value = await handler(request, { signal });
  } catch (error) {
    return { type: 'approval.failed', failure: error === noAnswerInTime ? 'timeout' : 'crash', error };
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
