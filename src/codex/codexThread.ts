import { createBoundedStream } from '../actors/rpc/rpcPeerStream.ts';
import type { AttemptContext, Fallback } from '../calls/operation.ts';
import { fallbackOf } from '../calls/fallback.ts';
import type { CallOptions } from '../calls/integration.ts';
import { joinedSignal } from '../calls/workSignal.ts';
import type { Clock } from '../policy/clock.ts';
import { AttemptError, type Outcome } from '../policy/failure.ts';
import { anyObject, anything, duration, type Key, type KeysOf, signal, type Values } from '../policy/optionKeys.ts';
import { readOptions, readValue } from '../policy/readOptions.ts';
import { show } from '../policy/showValue.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { inputParts, requestLimitMs } from '../protocol/codex/requests.ts';
import { brokenTurn, type TurnRecord } from '../protocol/codex/threads.ts';
import type { RunningTurn } from './codexRunningTurn.ts';
import type { RunRequest } from './codexRequests.ts';
import type { LiveConnection } from './codexLive.ts';
import type { ThreadState } from './codexThreadState.ts';
import { runTurn } from './codexTurnRun.ts';
import type {
  CodexInput,
  CodexInputPart,
  CodexThread,
  CodexTurn,
  CodexTurnEvent,
  CodexTurnOptions,
  CodexTurnResult,
} from './codexTypes.ts';

/** What a piece of work says of its call. */
export interface CallCodexOptions<T> extends Omit<CallOptions<unknown, T>, 'maxAttempts' | 'backoff' | 'fallback'> {
  readonly fallback?: Fallback<unknown, T> | undefined;
}

/** A call of the integration that is one piece of work. */
export type CallCodex = <T>(
  work: (context: AttemptContext) => Promise<T>,
  options?: CallCodexOptions<T>,
) => Promise<Outcome<T>>;

export interface CodexThreadParts {
  readonly live: LiveConnection;
  readonly state: ThreadState;
  readonly model: string | undefined;
  readonly history: readonly TurnRecord[];
  readonly call: CallCodex;
  readonly run: RunRequest;
  /** Takes the turn that a call is at. */
  readonly turns: WeakMap<object, RunningTurn>;
  readonly policy: IntegrationPolicy;
  readonly interruptMs: number;
  readonly clock: Clock;
}

const turnKeys = {
  signal,
  effect: anything as Key<CodexTurnOptions['effect']>,
  label: anything as Key<string | undefined>,
  fallback: anything as Key<CodexTurnOptions['fallback']>,
  idleMs: duration(),
  overallMs: duration(),
  model: anything as Key<string | undefined>,
  effort: anything as Key<string | undefined>,
  outputSchema: anything,
  params: { ...anyObject, required: undefined } as Key<CodexTurnOptions['params']>,
} satisfies KeysOf<CodexTurnOptions>;

type CheckedTurn = Values<typeof turnKeys>;

export function createCodexThread(parts: CodexThreadParts): CodexThread {
  const { live, state, history, model } = parts;
  return {
    id: state.id,
    model,
    get valid() {
      return !state.closed && live.lost === undefined;
    },
    get busy() {
      return state.turn !== undefined || state.active !== undefined;
    },
    turns: history,
    brokenTurn: brokenTurn(history),
    send(input, options = {}) {
      checkInput(input);
      return startTurn(parts, input, readOptions('options', options, turnKeys));
    },
  };
}

function startTurn(parts: CodexThreadParts, input: CodexInput, options: CheckedTurn): CodexTurn {
  const { live, state, call, run, policy, interruptMs, clock } = parts;
  const { idleMs, overallMs, signal, effect, label } = options;
  const fallback =
    options.fallback === undefined
      ? undefined
      : fallbackOf('options.fallback', options.fallback, {
          effect: () => effect,
          repeatAfter: policy.retry.repeatAfter,
        });
  const stream = createBoundedStream<CodexTurnEvent>();
  const giveUp = new AbortController();
  let turn: RunningTurn | undefined;
  let work: Promise<unknown> = Promise.resolve();
  let begin: (turn: RunningTurn) => void = () => undefined;
  const begun = new Promise<RunningTurn>((resolve) => {
    begin = resolve;
  });

  const outcome = call<CodexTurnResult>(
    (context) => {
      const running = runTurn(
        {
          live,
          thread: state,
          params: turnParams(state.id, input, options),
          stream,
          idleMs: idleMs ?? policy.limits.idleMs,
          interruptMs,
          clock,
          onBegin(made) {
            turn = made;
            made.cancel = (reason) => giveUp.abort(reason);
            parts.turns.set(context.call, made);
            begin(made);
          },
        },
        context,
      );
      work = running.catch(() => undefined);
      return running;
    },
    {
      signal: signal === undefined ? giveUp.signal : joinedSignal(signal, giveUp.signal),
      scope: `thread:${state.id}`,
      effect,
      label: label ?? 'turn/start',
      idleMs,
      attemptMs: overallMs,
      overallMs,
      fallback: fallback === undefined ? undefined : (_work, failure, context) => fallback(input, failure, context),
    },
  );
  const ended = outcome.then((settled) => {
    stream.end();
    return settled;
  });

  const named = async (): Promise<string> => {
    const running = turn ?? (await Promise.race([begun, ended.then(() => undefined)]));
    const id = running?.id ?? (await Promise.race([running?.named, ended.then(() => undefined)]));
    if (id === undefined || running?.over !== false) throw new AttemptError(notUnderWay);
    return id;
  };

  return {
    thread: state.id,
    get id() {
      return turn?.id;
    },
    outcome: ended,
    get dropped() {
      return stream.dropped;
    },
    steer(more) {
      checkInput(more);
      return run<undefined>('turn/steer', undefined, async () => {
        const params = { threadId: state.id, input: inputParts(more), expectedTurnId: await named() };
        await live.request('turn/steer', params, { limitMs: requestLimitMs('turn/steer') });
        return undefined;
      });
    },
    async interrupt(reason) {
      giveUp.abort(reason ?? new Error('the turn was interrupted'));
      await ended;
      await work;
    },
    [Symbol.asyncIterator]: () => stream,
  };
}

const notUnderWay = {
  kind: 'permanent',
  message: 'No turn is under way to steer',
  outcome: 'not_started',
} as const;

function turnParams(
  threadId: string,
  input: CodexInput,
  { model, effort, outputSchema, params }: CheckedTurn,
): Readonly<Record<string, unknown>> {
  return {
    ...params,
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    ...(outputSchema !== undefined && { outputSchema }),
    threadId,
    input: inputParts(input),
  };
}

/** @throws TypeError or RangeError when it is neither a text nor parts, or says nothing. */
function checkInput(input: CodexInput): void {
  if (typeof input === 'string') {
    if (input === '') throw new RangeError('Expected `input` to be a non-empty text or a list of parts, got ""');
    return;
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw new TypeError(`Expected \`input\` to be a non-empty text or a list of parts, got ${show(input)}`);
  }
  (input as readonly CodexInputPart[]).forEach((part, index) => readValue(`input[${index}]`, part, anyObject));
}
