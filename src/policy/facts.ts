import type { AlertCause, AlertEnd } from './alertCause.ts';
import type { CountedFailure } from './breakerCause.ts';
import type { Failure, FailureKind, FailureReason } from './failure.ts';
import type { IntegrationType } from './integrationAbout.ts';

/**
 * The catalogue of facts the runtime tells the outside, one line each: when it fires, and what it carries.
 * Durations are in ms. `at` (wall time, ms since the epoch) is added when a fact is told.
 */
export interface FactMap {
  /** An attempt failed and the call will try again after `delayMs` (`null`: when the integration has restarted). */
  'call.retried': CallFact & { attempt: number; kind: FailureKind; message: string; delayMs: number | null };
  /** The first chunk of a stream has come, `afterMs` after the call, waits and retries included. */
  'call.first_chunk': CallFact & { attempt: number; afterMs: number };
  /** A call hangs: half of the first limit that ends it has passed. Once for each call. `rule` ends its wait in `nextInMs` if nothing else does. */
  'call.pending': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    /** 0 before the first. */
    attempt: number;
    /** An attempt is in flight, or what the call waits for. */
    waitsFor:
      | 'in_flight'
      | 'backoff'
      | 'pause'
      | 'restart'
      | 'permit'
      | 'probe'
      | 'scope'
      | 'suspect'
      | 'rate'
      | 'reconciling';
    elapsedMs: number;
    /** For how long the attempt in flight has shown no sign of life. */
    silentMs?: number | undefined;
    rule: FailureReason | 'next_attempt' | 'restart_wait' | 'rate_limit' | 'reconcile';
    /** How long the limit is, where `rule` is one. */
    limitMs?: number | undefined;
    nextInMs: number;
  };
  /** The answer of a call was lost, and its reconcile rule is asked what became of it: `asks` names what is asked. */
  'call.reconciling': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    /** The one whose answer was lost. */
    attempt: number;
    asks: string;
    kind: FailureKind;
    message: string;
  };
  /** It is known what became of a call, or it is asked no longer (`unknown`). */
  'call.reconciled': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    verdict: 'done' | 'not_done' | 'unknown';
    /** How it is known, in words. */
    how: string;
    /** Since the answer was lost. */
    afterMs: number;
    probes: number;
    /** The caller had been answered before. */
    late: boolean;
  };
  /** A call ended with a value. */
  'call.succeeded': CallFact & { attempts: number; elapsedMs: number };
  /** A call ended with a failure: the one final record. `stack` where an error was thrown. */
  'call.failed': CallFact & {
    failure: Failure;
    retryCount: number;
    elapsedMs: number;
    stack?: string | undefined;
    /** What kind of thing the integration is. */
    integrationType?: IntegrationType | undefined;
    /** The tool that was called. */
    tool?: string | undefined;
    provider?: string | undefined;
    model?: string | undefined;
    /** The limit that passed, and where it was set. */
    limit?: string | undefined;
  };
  /** The first call of an episode was refused before dispatch; `refused` counts the ones before it that were not told. */
  'call.refused': CallFact & { kind: FailureKind; message: string; retryAfterMs?: number | undefined; refused: number };
  /** An attempt that had been given up ended after all; its result is not delivered. */
  'call.late': CallFact & { attempt: number; ok: boolean; lateByMs: number; error?: string | undefined };
  /** The work of an attempt outlived abort and grace; its place is given to others. */
  'call.abandoned': CallFact & { attempt: number; abandoned: number };
  /** A fallback answered in place of the integration. */
  'call.fell_back': CallFact & { kind: FailureKind };

  /** An agent could not answer, and another one was given its prompt. */
  'agent.fell_back': { agent: string; to: string; kind: FailureKind; message: string };

  /** A run of a workflow began with this backend: its circuit let the run in. */
  [type: `workflow.${string}.started`]: WorkflowBackendFact;
  /** Its plan was checked; `mode` is what the plan said of how it is meant. */
  [type: `workflow.${string}.planned`]: WorkflowBackendFact & {
    items: readonly PlannedItem[];
    mode?: string | undefined;
  };
  /** It ended the run; `partial`: an item failed or was skipped. */
  [type: `workflow.${string}.completed`]: WorkflowBackendFact & {
    status: 'succeeded' | 'partial';
    done: number;
    failed: number;
    skipped: number;
    elapsedMs: number;
  };
  /** It could not end the run; `fallback` is who takes over, `breaker` the state of its circuit after that. */
  [type: `workflow.${string}.failed`]: WorkflowBackendFact & {
    kind: FailureKind;
    error: string;
    stack?: string | undefined;
    fallback?: string | undefined;
    breaker: 'closed' | 'open' | 'half-open' | 'isolated' | 'crashed';
    elapsedMs: number;
  };
  /** An attempt of an item failed; the last one (`final`) alone is on record. */
  [type: `workflow.${string}.item_error`]: WorkflowBackendFact & {
    item: string;
    action: string;
    /** 0 of an item that was not begun. */
    attempt: number;
    maxAttempts: number;
    final: boolean;
    kind: FailureKind;
    error: string;
    stack?: string | undefined;
    tools: readonly string[];
    servers: readonly string[];
    dependencies: readonly string[];
  };
  /** Its circuit opened with the failure of this run, or did not let it in; `fallback` is the agent that takes over. */
  [type: `workflow.${string}.circuit_breaker_open`]: WorkflowBackendFact & {
    fallback?: string | undefined;
    retryAfterMs?: number | undefined;
  };
  /** One backend of a workflow took over from another. */
  workflow_fallback: WorkflowFact & { from: string; to: string; reason: string };

  /** The machine of an integration changed its state. */
  'integration.changed': { integration: string; from: string; to: string };
  /** The circuit opened, of `tool` alone where named: calls are refused for `openForMs`, or until released (`isolated`). `cause`: the last of `failures`. */
  'breaker.opened': {
    integration: string;
    tool?: string | undefined;
    openForMs: number;
    kind: FailureKind | 'isolated';
    cause?: string | undefined;
    failures?: readonly CountedFailure[] | undefined;
  };
  /** A probe is on its way: what it meets closes the circuit or opens it again. */
  'breaker.half_opened': { integration: string; tool?: string | undefined };
  /** The circuit closed: a probe went well, it was reset, or its process restarted. */
  'breaker.closed': { integration: string; tool?: string | undefined };
  /** Another process on the same store opened or closed the circuit, or was asked to pause: that holds here as well, for `forMs`. */
  'breaker.adopted': {
    integration: string;
    state: 'open' | 'closed' | 'paused';
    forMs?: number | undefined;
    cause?: string | undefined;
  };
  /** The other side asked for a pause (429). */
  'integration.paused': { integration: string; pauseMs: number };
  /** Calls wait for its rate limit: the latest for `waitMs`, `calls` of them since it was last told. At most every 10 s. */
  'integration.rate_limited': {
    integration: string;
    of: string;
    limit: number;
    perMs: number;
    waitMs: number;
    calls: number;
  };
  /** What is behind the integration is gone. */
  'integration.crashed': { integration: string; message: string };
  /** It was started again, and is gone again before it was back. */
  'integration.restart_failed': { integration: string; message: string };
  /** What is behind the integration is back. */
  'integration.restarted': { integration: string; downMs: number };

  /** An operator had an integration or a session restarted; `calls` were in flight and end by that, or are sent again. No failure. */
  'operator.restarted': {
    integration?: string | undefined;
    session?: string | undefined;
    /** What was started anew: the process behind it, the actor of the session, or nothing but calls and circuit. */
    what: 'server' | 'session' | 'calls';
    calls: number;
    /** Who asked for it, and why, where they said so. */
    by?: string | undefined;
    why?: string | undefined;
  };
  /** An operator holds the circuit of an integration open: its calls are refused until it is reset. */
  'operator.isolated': { integration: string; by?: string | undefined; why?: string | undefined };
  /** An operator had the circuit of an integration closed. */
  'operator.reset': { integration: string; by?: string | undefined; why?: string | undefined };
  /** An operator asked for the next probe of an open circuit, or of a server that asked not to be called, now: `next_call` where a call has to be it. */
  'operator.probed': {
    integration: string;
    how: 'probe' | 'waiting_call' | 'next_call';
    by?: string | undefined;
    why?: string | undefined;
  };
  /** An operator had a rule that was to end a wait act at once, `inMs` before its time. What it ends is told as if it had come by itself. */
  'operator.fired': {
    session: string;
    turn: number;
    rule: string;
    /** What the rule ends: a tool, a question, a turn. */
    what: string;
    call?: string | undefined;
    integration?: string | undefined;
    inMs: number;
    by?: string | undefined;
    why?: string | undefined;
  };
  /** An operator had a call not be tried again: what its attempt `attempt` ends with is its end. */
  'operator.retries_stopped': {
    session: string;
    call: string;
    integration: string;
    tool: string;
    attempt: number;
    by?: string | undefined;
    why?: string | undefined;
  };
  /** An operator ended a tool call, or without `call` the whole turn. The session goes on. */
  'operator.cancelled': {
    session: string;
    turn: number;
    call?: string | undefined;
    integration?: string | undefined;
    tool?: string | undefined;
    by?: string | undefined;
    why?: string | undefined;
  };
  /** An operator had a dead letter delivered again, as the new message `as`. */
  'operator.sent_again': {
    session: string;
    message: string;
    as: string;
    by?: string | undefined;
    why?: string | undefined;
  };
  /** An operator dropped a dead letter. */
  'operator.dropped': { session: string; message: string; by?: string | undefined; why?: string | undefined };

  /** A session is ready to take messages, for the first time or after a restart. */
  'session.started': { session: string; incarnation: number };
  /** The first message of an episode was refused; `refused` counts the ones before it that were not told. */
  'session.refused': {
    session: string;
    kind: string;
    reason: 'mailbox_full' | 'stopped' | 'owned_elsewhere';
    refused: number;
  };
  /** A session was taken up where an earlier run of it ended: messages to deliver, lost calls, and open ones that rules settle first. */
  'session.resumed': { session: string; waiting: number; lostCalls: number; openCalls: number; deadLetters: number };
  /** A message is not delivered any more: it ended its gateway too often, is too old, or cannot be read. */
  'session.dead_letter': { session: string; message: string; reason: 'poison' | 'expired' | 'malformed' };
  /** Another runtime that lives owns the session; messages are refused until it is gone. */
  'session.held': { session: string; by: string };
  /** Another runtime took the session over; what it still does here has no effect. */
  'session.taken_over': { session: string };
  /** A heartbeat made room for a newer one (drop-oldest), or joined one that waits (coalesce). */
  'session.heartbeat_dropped': { session: string; reason: 'drop_oldest' | 'coalesced' };
  /** A session began to process a message. */
  'session.turn_started': { session: string; turn: number; message: string; kind: string };
  /** It is done with the message, well or not. */
  'session.turn_ended': {
    session: string;
    turn: number;
    kind: string;
    ok: boolean;
    elapsedMs: number;
    error?: string | undefined;
  };
  /** The handler of a turn threw, or its turn was left behind; a turn that was cancelled is no failure. `kind` is that of the failure. */
  'session.turn_failed': {
    session: string;
    turn: number;
    message: string;
    kind: FailureKind;
    reason?: FailureReason | undefined;
    error: string;
    stack?: string | undefined;
    elapsedMs: number;
  };
  /** A tool call of a session ended with an error result; the session goes on. */
  'session.tool_failed': {
    session: string;
    turn: number;
    call: string;
    tool: string;
    integration: string;
    kind: FailureKind;
    retries: number;
    synthetic: boolean;
    message: string;
  };
  /** The watchdog ended a tool call or a turn. */
  'session.watchdog_fired': {
    session: string;
    turn: number;
    rule: 'tool_call' | 'turn';
    limitMs: number;
    tool?: string | undefined;
  };
  /** After the watchdog released a turn, the session took its next message (or is ready for it). */
  'session.recovered': { session: string; turn: number; releasedAfterMs: number };
  /** Releasing a turn did not succeed within its limit; the session is restarted. */
  'session.recovery_failed': { session: string; turn: number; afterMs: number };
  /** A person did not answer a question of a turn, or it could not be put. */
  'session.question_failed': {
    session: string;
    turn: number;
    what: string;
    kind: FailureKind;
    message: string;
    waitedMs: number;
  };
  /** The agent asks for the operator. */
  'session.escalated': { session: string; turn: number; reason: string };
  /** A result arrived after its call had been answered. */
  'session.late_result': { session: string; turn: number; call: string; tool: string };

  /** A child process runs. */
  'process.started': { process: string; pid: number; command: string };
  /** It ended, and everything below it. */
  'process.exited': {
    process: string;
    pid?: number | undefined;
    reason: string;
    exitCode?: number | undefined;
    signal?: string | undefined;
    elapsedMs: number;
  };
  /** A child of a runtime that died was still there at the start of this one, it or what it started, and was ended. */
  'process.reaped': { pid: number; command: string; ownerPid: number; ageMs: number };
  /** A line a child wrote where the protocol allows none, or to stderr. Told at debug level. */
  'process.stray_output': { process: string; stream: 'stdout' | 'stderr'; line: string };

  /** A hook threw, rejected or hung; the main operation goes on. */
  'hook.failed': {
    hook: string;
    event: string;
    action: string;
    session?: string | undefined;
    /** Absent when it answered what cannot be read, and of a command that no gateway runs. */
    kind?: FailureKind | undefined;
    error: string;
    stack?: string | undefined;
  };
  /** A question was put to the approver. Its full text is not told. */
  'approval.requested': ApprovalFact;
  /** It was answered, or nobody asks any more, which declines. */
  'approval.completed': ApprovalFact & {
    decision: 'accept' | 'decline';
    by: 'answer' | 'cancelled' | 'stopped';
    reason?: string | undefined;
    elapsedMs: number;
  };
  /** It was declined because nobody answered in time, the handler crashed or gave no answer, or nobody could be asked. */
  'approval.failed': ApprovalFact & {
    failure: 'timeout' | 'crash' | 'unreadable' | 'unavailable';
    error: string;
    stack?: string | undefined;
    elapsedMs: number;
  };
  /** An answer came after its question had been declined; it changes nothing. */
  'approval.late': ApprovalFact & { decision: 'accept' | 'decline' | 'none'; lateByMs: number };
  /** A connection to Codex's app-server is ready. */
  'codex.app_server.connection.start': CodexFact & { pid: number; elapsedMs: number };
  /** It ended: in good order (`normal`), by itself (`crashed`), or by us for what was wrong with it (`killed`). */
  'codex.app_server.connection.stop': CodexFact & {
    reason: 'normal' | 'crashed' | 'killed';
    message: string;
    elapsedMs: number;
  };
  /** It did not come up, was lost, or is unhealthy. */
  'codex.app_server.connection.error': CodexFact & { kind: FailureKind; reason?: string | undefined; error: string };
  /** A request was sent. Of its parameters only what names things is told. */
  'codex.app_server.request.start': CodexFact & {
    request: number;
    method: string;
    params: Readonly<Record<string, unknown>>;
  };
  /** It was answered (`ok`), refused, given up, or lost with its connection. */
  'codex.app_server.request.stop': CodexFact & {
    request: number;
    method: string;
    ok: boolean;
    elapsedMs: number;
    error?: string | undefined;
  };
  /** It was not answered in time. */
  'codex.app_server.request.timeout': CodexFact & {
    request: number;
    method: string;
    elapsedMs: number;
    /** The limit that passed. */
    limitMs?: number | undefined;
    error: string;
  };
  /** The app-server said something without having been asked. */
  'codex.app_server.notification.received': CodexFact & {
    method: string;
    thread?: string | undefined;
    turn?: string | undefined;
  };
  /** It said something that is not of the protocol as it is known, or cannot be read. Told at debug level. */
  'codex.app_server.notification.unknown': CodexFact & { method: string };
  /** Codex asks whether it may do something. */
  'codex.app_server.approval.requested': CodexApprovalFact;
  /** Codex was answered. */
  'codex.app_server.approval.completed': CodexApprovalFact & { decision: 'accept' | 'decline'; elapsedMs: number };
  /** Nobody answered in time, so that Codex was told no. */
  'codex.app_server.approval.timeout': CodexApprovalFact & { decision: 'decline'; elapsedMs: number };
  /** An error that nobody in this process caught, seen by a process guard; `wentOn`: a guard had it go on. */
  'host.uncaught': { origin: string; error: string; stack?: string | undefined; wentOn: boolean };
  /** A proxy's new server was brought to where the old one was; `changed` names what it says of itself otherwise than that. */
  'mcp.server_replayed': {
    integration: string;
    era: 'legacy' | 'modern';
    /** Requests that brought log level and subscriptions back. */
    restored: number;
    changed?: string | undefined;
    elapsedMs: number;
  };
  /** Calls through a proxy went with its server, or found it hung: so many (`calls`) were answered as lost, so many are sent again. */
  'mcp.calls_lost': {
    integration: string;
    lost: number;
    repeated: number;
    calls?: string | undefined;
    repeatedCalls?: string | undefined;
    message: string;
  };
  /** A proxy's new server has other lists than the client was given, and the client was told. */
  'mcp.lists_changed': { integration: string; lists: string };
  /** A call of a tool of an MCP server failed: the tool said so, the server broke the protocol, hung or died. */
  'mcp.tool_failed': {
    /** Of the client; of the server itself, its name. */
    integration: string;
    tool: string;
    input: unknown;
    error: string;
    stack?: string | undefined;
    /** Of a call from this side. */
    kind?: FailureKind | undefined;
    reason?: string | undefined;
    /** Attempts beyond the first. */
    retries?: number | undefined;
  };
  /** An MCP server lists other tools than before, after a restart or because it said so. At most 100 names each. */
  'mcp.tools_changed': {
    integration: string;
    added: readonly string[];
    removed: readonly string[];
    changed: readonly string[];
  };
  /** A tool or prompt of one of several servers behind one proxy is not listed: as `as` it is too long, or that is the name of another (`of`). */
  'mcp.left_out': {
    integration: string;
    what: 'tool' | 'prompt';
    name: string;
    as: string;
    reason: 'too_long' | 'taken';
    /** The integration whose name it is. */
    of?: string | undefined;
  };
  /** A proxy over HTTP did not serve requests: so many since it was last told of this status. At most once a minute each. */
  'mcp.http_refused': { server: string; status: number; requests: number };

  /** A child of a supervisor has started. */
  'child.started': { child: string; incarnation: number };
  /** An incarnation of a child failed: which child, in what state, why, and what the supervisor does. */
  'child.crashed': {
    child: string;
    /** Names from the root supervisor down to the child. */
    path: readonly string[];
    incarnation: number;
    /** Age of the incarnation. */
    elapsedMs: number;
    error: string;
    stack?: string | undefined;
    /** What is behind the error, nearest first: causes and the errors of an aggregate. */
    causes?: readonly string[] | undefined;
    /** The state of its machine. */
    machineState?: string | undefined;
    /** Type of the last event it was given; absent when it failed in its start. */
    lastEvent?: string | undefined;
    /** Messages held for its next start. */
    queued: number;
    /** Restarts so far. */
    restarts: number;
    /** What its spec's `details` says, such as the length of its own queue. */
    details?: Readonly<Record<string, unknown>> | undefined;
    next: 'restart' | 'quarantine' | 'escalate' | 'stop';
    /** Absent when it does not come back by itself. */
    nextRestartInMs?: number | undefined;
  };
  /** It will be started again after `delayMs`. */
  'child.restarting': { child: string; restarts: number; delayMs: number };
  /** It used up its restarts and stays down until it is restarted by hand. */
  'child.quarantined': { child: string; restarts: number; error: string };
  /** It has ended and does not come back by itself. */
  'child.stopped': { child: string; reason: 'normal' | 'shutdown' | 'killed' | 'failure' };
  /** A supervisor used up its restart window. */
  'supervisor.gave_up': { supervisor: string; child: string; restarts: number; periodMs: number };
  /** A message to a child was refused, as there was none to take it, or was dropped from its mailbox. */
  'message.dead_letter': {
    to: string;
    /** Its type. */
    message: string;
    reason:
      | 'no_child'
      | 'starting'
      | 'restarting'
      | 'quarantined'
      | 'stopped'
      | 'mailbox_full'
      | 'drop_oldest'
      | 'drop_newest';
    /** Dead letters to this child so far, this one included; with `no_child`, all of the supervisor. */
    deadLetters: number;
  };

  /** So many final failures, or crashes, of one integration came within `windowMs`, or so few of its calls succeeded, that somebody should look; once per episode. */
  'alert.raised': AlertFact & {
    /** `crashes`: it keeps crashing, whatever became of its calls. `rate`: too few of its calls succeed. */
    because: AlertCause;
    /** Final failures within `windowMs`. */
    failures: number;
    /** Losses of the integration's process, and failed restarts, within `windowMs`. */
    crashes: number;
    windowMs: number;
    /** Of the last of them; with `rate`, of most. */
    kind: FailureKind;
    /** What the last of them said; with `rate`, what the rate is. */
    message: string;
  };
  /** The episode is over: no failure and no crash for the quiet time, the circuit closed, or the success rate is high enough again. */
  'alert.cleared': AlertFact & {
    by: AlertEnd;
    /** All final failures of the episode. */
    failures: number;
    /** All its crashes. */
    crashes: number;
    /** How long it lasted. */
    afterMs: number;
  };
  /** An alert did not reach where it was to go; it is not tried again. */
  'alert.undelivered': AlertFact & { to: 'command' | 'webhook'; error: string };

  /** The event loop stood still: what ends in the wake of that counts for no breaker, and limits on silence are longer by as much. */
  'runtime.stalled': { stalledMs: number };
  /** The store cannot be written: what it is given waits in memory. */
  'store.degraded': { reason: string; fix: string };
  /** It can be written again, and what waited is written. */
  'store.recovered': {
    queued: number;
    dropped: number;
    downMs: number;
    /** Messages and calls without an end that a new file was given, where the earlier one was lost. */
    carried?: number | undefined;
    /** Writes of this run before it that only the earlier file has: events and history. */
    left?: number | undefined;
  };
  /** What was too old or too much was deleted. */
  'store.pruned': {
    /** Rows deleted. */
    rows: number;
    /** What made them go: their age, or the size of the file. */
    because: 'age' | 'size';
    /** Bytes in use before and after. */
    bytesBefore: number;
    bytesAfter: number;
    elapsedMs: number;
  };
  /** Something is configured for an integration that was not declared by the time the gateway started; `nearest` may have been meant. */
  'config.unused': { integration: string; nearest?: string | undefined };
  /** No control socket could be opened; commands cannot reach this runtime. */
  'control.unavailable': { reason: string; fix: string };
  /** A subscriber threw; it is contained. */
  'listener.failed': { event: string; error: string; stack?: string | undefined };
  /** A subscriber that threw `failures` times in a row hears nothing any more. `event` is what it listened to. */
  'listener.removed': { event: string; failures: number; error: string };
}

/** What the facts of one alert have in common. */
export interface AlertFact {
  /** One for each episode of an integration. */
  alert: string;
  integration: string;
}

/** What the facts of one run of a workflow have in common. */
export interface WorkflowFact {
  workflow: string;
  /** Unique within the runtime. */
  run: string;
  session?: string | undefined;
}

/** The same with one backend, whose name is in the type of the fact. */
export interface WorkflowBackendFact extends WorkflowFact {
  backend: string;
}

/** An item of a plan as it is told. */
export interface PlannedItem {
  id: string;
  action: string;
  dependencies: readonly string[];
}

/** What the facts of one connection to an app-server have in common. */
export interface CodexFact {
  integration: string;
  /** Counts the connections of the integration, from 1. */
  connection: number;
}

/** What the facts of one question of Codex have in common. */
export interface CodexApprovalFact extends CodexFact {
  /** Of the protocol; numbers start at 0. */
  request: number | string;
  kind: string;
  thread?: string | undefined;
  turn?: string | undefined;
}

/** What the facts of one approval have in common. */
export interface ApprovalFact {
  /** Of the person who is asked. */
  approval: string;
  /** Unique within the runtime. */
  request: string;
  action: string;
  session?: string | undefined;
}

/** What the facts of one call have in common. */
export interface CallFact {
  integration: string;
  /** Unique within the runtime. */
  call: string;
  /** What the caller called it. */
  label?: string | undefined;
  session?: string | undefined;
}

export type FactType = keyof FactMap;
export type Fact = { [T in FactType]: { readonly type: T } & Readonly<FactMap[T]> }[FactType];
/** The facts of a type: of one backend's (`workflow.primary.failed`) those of the pattern it matches. */
export type FactOf<T extends FactType> = Matching<Fact, T>;
type Matching<F extends Fact, T extends FactType> = F extends { type: T }
  ? F
  : T extends F['type']
    ? F & { readonly type: T }
    : never;

/** A fact as it reaches its listeners: `at` is the wall time it was told, in ms since the epoch. */
export type Told<F> = F & { readonly at: number };

/** Where facts are told. Telling never throws. */
export interface Facts {
  /** @param recorded - whether the store has it already, written with the change that it tells of. @defaultValue false */
  tell(fact: Fact, recorded?: boolean): void;
  /** Whether anybody listens to this type, so that frequent facts need not be built for nobody. */
  wants(type: FactType): boolean;
}
