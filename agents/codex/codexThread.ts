import { ReaderQueue } from '../../src/telemetry/face.ts';
import { type AttemptContext, fallbackOf, joinedSignal } from '../../src/calls/face.ts';
import { AttemptError, type Outcome } from '../../src/policy/failures/face.ts';
import {
  type Key,
  type KeysOf,
  type Values,
  anyObject,
  anything,
  readOptions,
  readValue,
  signal,
} from '../../src/policy/options/face.ts';
import { show } from '../../src/policy/text/face.ts';
import { inputParts, requestLimitMs } from './protocol/requests.ts';
import { brokenTurn, type CodexTurnRecord } from './protocol/threads.ts';
import type { CallCodexOptions } from './codexCalls.ts';
import type { RunningTurn } from './codexRunningTurn.ts';
import { runTurn, type ThreadScope } from './codexTurnRun.ts';
import {
  type CodexInput,
  type CodexInputPart,
  type CodexThread,
  type CodexTurn,
  type CodexTurnEvent,
  type CodexTurnOptions,
  type CodexTurnResult,
  ownTurnKeys,
} from './codexTypes.ts';

const turnKeys = {
  signal,
  effect: anything as Key<CodexTurnOptions['effect']>,
  label: anything as Key<string | undefined>,
  fallback: anything as Key<CodexTurnOptions['fallback']>,
  ...ownTurnKeys,
} satisfies KeysOf<CodexTurnOptions>;

type CheckedTurn = Values<typeof turnKeys>;

/** Answer for a thread that was begun or resumed. */
interface OpenedThread {
  readonly model: string | undefined;
  /** Its turns so far. */
  readonly turns: readonly CodexTurnRecord[];
}

export function createCodexThread(scope: ThreadScope, { model, turns }: OpenedThread): CodexThread {
  const { live, state } = scope;
  return {
    id: state.id,
    model,
    get valid() {
      return !state.closed && live.lost === undefined;
    },
    get busy() {
      return state.turn !== undefined || state.active !== undefined;
    },
    turns,
    brokenTurn: brokenTurn(turns),
    send(input, options = {}) {
      checkInput(input);
      return new ThreadTurn(scope, input, readOptions('options', options, turnKeys));
    },
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

/** Events of a turn that may wait to be read, and what they may weigh together. */
const mostWaiting = { limit: 1000, maxSize: 16 * 1024 * 1024 };

/** A turn of a thread as its caller has it: a call of the integration, and the events of the turn. */
class ThreadTurn implements CodexTurn {
  readonly thread: string;
  readonly outcome: Promise<Outcome<CodexTurnResult>>;
  readonly #scope: ThreadScope;
  readonly #stream: ReaderQueue<CodexTurnEvent>;
  readonly #giveUp = new AbortController();
  readonly #begun: Promise<RunningTurn>;
  #begin: (turn: RunningTurn) => void = () => undefined;
  #turn: RunningTurn | undefined = undefined;
  #work: Promise<unknown> = Promise.resolve();

  /** @throws TypeError or RangeError that names the first wrong option and its value. */
  constructor(scope: ThreadScope, input: CodexInput, options: CheckedTurn) {
    this.thread = scope.state.id;
    this.#scope = scope;
    const callOptions = this.#callOptions(input, options);
    this.#stream = new ReaderQueue<CodexTurnEvent>(mostWaiting);
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    const outcome = scope.calls.call((context) => this.#run(input, options, context), callOptions);
    this.outcome = outcome.then((settled) => {
      this.#stream.end();
      return settled;
    });
  }

  get id(): string | undefined {
    return this.#turn?.id;
  }

  get dropped(): number {
    return this.#stream.dropped;
  }

  steer(more: CodexInput): Promise<Outcome<undefined>> {
    checkInput(more);
    const { live, run } = this.#scope;
    return run<undefined>('turn/steer', undefined, async () => {
      const params = { threadId: this.thread, input: inputParts(more), expectedTurnId: await this.#named() };
      await live.request('turn/steer', params, { limitMs: requestLimitMs('turn/steer') });
      return undefined;
    });
  }

  async interrupt(reason?: unknown): Promise<void> {
    this.#giveUp.abort(reason ?? new Error('the turn was interrupted'));
    await this.outcome;
    await this.#work;
  }

  [Symbol.asyncIterator](): ReaderQueue<CodexTurnEvent> {
    return this.#stream;
  }

  #callOptions(input: CodexInput, options: CheckedTurn): CallCodexOptions<CodexTurnResult> {
    const { idleMs, overallMs, signal, effect, label } = options;
    const { repeatAfter } = this.#scope.codex.policy.retry;
    const fallback =
      options.fallback === undefined
        ? undefined
        : fallbackOf('options.fallback', options.fallback, { effect: () => effect, repeatAfter });
    return {
      signal: signal === undefined ? this.#giveUp.signal : joinedSignal(signal, this.#giveUp.signal),
      scope: `thread:${this.thread}`,
      effect,
      label: label ?? 'turn/start',
      idleMs,
      attemptMs: overallMs,
      overallMs,
      fallback: fallback === undefined ? undefined : (_work, failure, context) => fallback(input, failure, context),
    };
  }

  #run(input: CodexInput, options: CheckedTurn, context: AttemptContext): Promise<CodexTurnResult> {
    const { calls, codex } = this.#scope;
    const work = {
      thread: this.#scope,
      params: turnParams(this.thread, input, options),
      stream: this.#stream,
      idleMs: options.idleMs ?? codex.policy.limits.idleMs,
      onBegin: (turn: RunningTurn) => {
        this.#turn = turn;
        turn.cancel = (reason) => this.#giveUp.abort(reason);
        turn.signal = context.signal;
        calls.begun(context, turn);
        this.#begin(turn);
      },
    };
    const running = runTurn(work, context);
    this.#work = running.catch(() => undefined);
    return running;
  }

  /** Codex's name for the turn, which it takes to steer it. */
  async #named(): Promise<string> {
    const over = this.outcome.then(() => undefined);
    const running = this.#turn ?? (await Promise.race([this.#begun, over]));
    const id = running?.id ?? (await Promise.race([running?.named, over]));
    if (id === undefined || running?.over !== false) throw new AttemptError(notUnderWay);
    return id;
  }
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
