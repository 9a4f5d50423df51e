import type { BreakerHandle, CallOptions, CallStats } from '../../src/calls/face.ts';
import type { Outcome } from '../../src/policy/failures/face.ts';
import { type Given, type Key, anyObject, anything, duration, integer } from '../../src/policy/options/face.ts';
import type { CodexItem } from './protocol/items.ts';
import type { CodexTokens } from './protocol/notifications.ts';
import type { CodexQuestionKind } from './protocol/questions.ts';
import type { CodexThreadList, CodexTurnRecord } from './protocol/threads.ts';

/**
 * State of the connection to the app-server: there was none yet (`idle`), it greets (`handshake`), can be used (`ready`), ends in good order (`draining`),
 * ended so (`closed`), or was lost (`crashed`). The next thread starts another one.
 */
export type CodexState = 'idle' | 'handshake' | 'ready' | 'draining' | 'closed' | 'crashed';

/** Words of the app-server about itself. */
export interface CodexServer {
  readonly pid: number;
  readonly userAgent: string | undefined;
}

/** Health of the app-server: it answers, or `reason` says what is wrong. */
export type CodexHealth =
  | { readonly status: 'healthy'; readonly elapsedMs: number }
  | { readonly status: 'unhealthy'; readonly reason: string };

/** Part of the words of a user; other parts of the protocol (`image`, `localImage`, `skill` …) pass as they are. */
export type CodexInputPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: string; readonly [field: string]: unknown };

/** Input for an agent: a text, or the parts of the protocol. */
export type CodexInput = string | readonly CodexInputPart[];

/** The options that a thread is begun with, but for those that an agent gives itself. */
export const threadKeys = {
  /** The provider of the model, as Codex names it. */
  modelProvider: anything as Key<string | undefined>,
  /** Cases in which Codex asks: `untrusted`, `on-request`, `never`, or its own object. */
  approvalPolicy: anything as Key<string | Readonly<Record<string, unknown>> | undefined>,
  /** Bounds on all that its commands may write and reach. */
  sandbox: anything as Key<'read-only' | 'workspace-write' | 'danger-full-access' | undefined>,
  /** Takes the place of Codex’s own instructions. */
  baseInstructions: anything as Key<string | undefined>,
  /** Is added to the instructions. */
  developerInstructions: anything as Key<string | undefined>,
  /** Overrides of Codex's configuration for this thread. */
  config: anything as Key<Readonly<Record<string, unknown>> | undefined>,
  /** Further parameters of `thread/start` or `thread/resume`, as Codex names them. */
  params: anything as Key<Readonly<Record<string, unknown>> | undefined>,
};

export const ownThreadKeys = {
  /** Directory in which its turns work. */
  cwd: anything as Key<string | undefined>,
  /** The model, as Codex names it. */
  model: anything as Key<string | undefined>,
  ...threadKeys,
  /** Gives up the start when aborted. */
  signal: anything as Key<AbortSignal | undefined>,
};

/** Options to begin or resume a thread; those not given are as in Codex's own configuration. */
export interface CodexThreadOptions extends Given<typeof ownThreadKeys> {}

/** The options of a turn beside those that every call has. */
export const ownTurnKeys = {
  /** Without progress, in ms above 0; retries that Codex announces are none. @defaultValue the policy's idle limit, 300000 */
  idleMs: duration(),
  /** For the whole turn, in ms above 0. @defaultValue the policy's overall limit, 1800000 */
  overallMs: duration(),
  /** The model from this turn on, as Codex names it. */
  model: anything as Key<string | undefined>,
  /** Effort that the model reasons with, as Codex names it. */
  effort: anything as Key<string | undefined>,
  /** JSON Schema that the final message has to fit. */
  outputSchema: anything,
  /** Further parameters of `turn/start`, as Codex names them. */
  params: { ...anyObject, required: undefined } as Key<Readonly<Record<string, unknown>> | undefined>,
};

/** Options of one turn that differ from its thread and from the policy. */
export interface CodexTurnOptions
  extends Pick<CallOptions<CodexInput, CodexTurnResult>, 'signal' | 'effect' | 'label' | 'fallback'>,
    Given<typeof ownTurnKeys> {}

/** Events of a turn, in order. */
export type CodexTurnEvent =
  | { readonly type: 'turn.started'; readonly turn: string }
  /** A piece of a message. What a retried stream says again is told once. */
  | { readonly type: 'text.delta'; readonly item: string; readonly text: string }
  | { readonly type: 'reasoning.delta'; readonly item: string; readonly text: string }
  /** A piece of what a command prints. */
  | { readonly type: 'output.delta'; readonly item: string; readonly text: string }
  | { readonly type: 'item.started'; readonly item: CodexItem }
  | { readonly type: 'item.completed'; readonly item: CodexItem }
  /** Tokens of the thread so far (`total`), and of its last request. */
  | { readonly type: 'tokens'; readonly total: CodexTokens; readonly last: CodexTokens }
  /** Codex tries its request to the model again; `detail` says why. */
  | { readonly type: 'retrying'; readonly message: string; readonly detail: string | undefined }
  | {
      readonly type: 'approval.requested';
      readonly approval: string;
      readonly kind: CodexQuestionKind;
      readonly action: string;
    }
  | {
      readonly type: 'approval.resolved';
      readonly approval: string;
      readonly kind: CodexQuestionKind;
      readonly decision: 'accept' | 'decline';
      readonly reason: string | undefined;
    }
  /** Anything else Codex says about the turn, as it came. */
  | { readonly type: 'notice'; readonly method: string; readonly params: Readonly<Record<string, unknown>> };

/** Result of a turn that ended well. */
export interface CodexTurnResult {
  readonly thread: string;
  readonly turn: string;
  /** The last message, up to 1 MB; empty when there was none. */
  readonly text: string;
  readonly tokens: CodexTokens | undefined;
  /** Items that were completed, repetitions of retried streams not counted. */
  readonly items: number;
  /** Tools that were called: commands, changes of files, tools of servers, searches. */
  readonly toolCalls: number;
  /** Possible effects of all that ran in the turn. */
  readonly effects: 'none' | 'possible';
  /** Times that Codex tried its own requests to the model again. */
  readonly retries: number;
}

/**
 * A turn under way. As an async iterable it gives its events to one reader. A reader that is slow or never reads loses the oldest events
 * (`dropped`), never the outcome. The iteration ends when the outcome is there.
 */
export interface CodexTurn extends AsyncIterable<CodexTurnEvent, undefined, void> {
  readonly thread: string;
  /** Codex's name for it, once known. */
  readonly id: string | undefined;
  /** Outcome of the turn. Never rejects, and is there at the turn's limit at the latest. */
  readonly outcome: Promise<Outcome<CodexTurnResult>>;
  /** Events that were lost because nobody read them in time. */
  readonly dropped: number;
  /** Says more to the turn while it runs. */
  steer(input: CodexInput): Promise<Outcome<undefined>>;
  /** Ends the turn (`cancelled`). Resolves when Codex has let go of it. Never rejects. */
  interrupt(reason?: unknown): Promise<void>;
}

/** A thread on one connection; after a crash it has to be resumed by its id. */
export interface CodexThread {
  /** By this it is resumed. */
  readonly id: string;
  /** Model of the agent that works in it, where Codex said. */
  readonly model: string | undefined;
  /** True while its connection is still there. */
  readonly valid: boolean;
  /** True while a turn is under way in it. */
  readonly busy: boolean;
  /** Its turns when it was resumed; empty for a new one. */
  readonly turns: readonly CodexTurnRecord[];
  /**
   * The last turn, when it was cut off (by a crash, an interruption) before it was completed. Its input is in the history: it is
   * not sent again.
   */
  readonly brokenTurn: string | undefined;
  /**
   * Begins a turn. A second one while one is under way is refused (`too_many_requests`, `scope_busy`).
   * @throws TypeError or RangeError at once when an option is wrong.
   */
  send(input: CodexInput, options?: CodexTurnOptions): CodexTurn;
}

/**
 * Message that the app-server sends without having been asked. Ours are `app_server_unhealthy`, and as the last `app_server_crashed` or `app_server_closed`.
 */
export interface CodexNotification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export const streamKeys = {
  /** Methods to hear. @defaultValue all, unknown ones too */
  methods: anything as Key<readonly string[] | undefined>,
  /** Notifications that may wait to be read; one more drops the oldest. At least 1. @defaultValue 1000 */
  limit: integer({ default: 1000 }),
  /** Ends the stream. */
  signal: anything as Key<AbortSignal | undefined>,
};

/** Choice of the notifications that are heard, and how many may wait to be read. */
export interface CodexStreamOptions extends Given<typeof streamKeys> {}

/** Notifications as they come; it ends with its connection, and is left by leaving a `for await`. */
export interface CodexNotifications extends AsyncIterableIterator<CodexNotification, undefined, void> {
  /** Notifications that were lost because nobody read them in time. */
  readonly dropped: number;
  return(): Promise<IteratorResult<CodexNotification, undefined>>;
  [Symbol.asyncIterator](): CodexNotifications;
}

export const requestKeys = {
  /** Time in ms above 0 that the request may take. @defaultValue by method: `turn/*` 300000, `config/*` 10000, `command/exec` its `timeoutMs`, else 30000 */
  limitMs: duration(),
  /** Gives up the request when aborted. */
  signal: anything as Key<AbortSignal | undefined>,
};

/** Options of one request. */
export interface CodexRequestOptions extends Given<typeof requestKeys> {}

/** Codex's app-server under supervision: one breaker, one process at a time, started when it is needed. */
export interface Codex {
  readonly name: string;
  readonly state: CodexState;
  readonly breaker: BreakerHandle;
  readonly stats: CallStats;
  /** Starts the app-server now, if it is not there; threads do so by themselves. */
  connect(): Promise<Outcome<CodexServer>>;
  startThread(options?: CodexThreadOptions): Promise<Outcome<CodexThread>>;
  /**
   * Takes a thread up again by its id, as after a crash. No input is sent. An app-server that hangs is replaced meanwhile: it is asked
   * for a sign of life after 15 s and killed 5 s later, and the next one has the rest of the 30 s.
   */
  resumeThread(id: string, options?: CodexThreadOptions): Promise<Outcome<CodexThread>>;
  listThreads(options?: {
    readonly limit?: number | undefined;
    readonly cursor?: string | undefined;
  }): Promise<Outcome<CodexThreadList>>;
  /** Any request of the protocol but `initialize`; its result as it came. */
  request(
    method: string,
    params?: Readonly<Record<string, unknown>>,
    options?: CodexRequestOptions,
  ): Promise<Outcome<unknown>>;
  /** Asks for a list of one thread, for 5 s at most. Starts nothing. Never rejects. */
  health(): Promise<CodexHealth>;
  /**
   * Calls the listener for each notification of this connection (of the next, while there is none), one after the other: while one
   * is worked on, up to 1,000 wait. One that fails three times in a row is removed. After a crash it has to be added again.
   * @returns how to take it off.
   */
  on(method: string, listener: (notification: CodexNotification) => unknown): () => void;
  /** The same as an async iterator. */
  notifications(options?: CodexStreamOptions): CodexNotifications;
  /** Ends turns and app-server in good order. Always resolves. */
  close(): Promise<void>;
}
