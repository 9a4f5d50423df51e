import type { Failure, FailureKind } from './failure.ts';

/**
 * The catalogue of facts the runtime tells the outside, one line each: when it fires, and what it carries.
 * Durations are in ms. `at` (wall time, ms since the epoch) is added when a fact is told.
 */
export interface FactMap {
  /** An attempt failed and the call will try again after `delayMs` (`null`: when the integration has restarted). */
  'call.retried': CallFact & { attempt: number; kind: FailureKind; message: string; delayMs: number | null };
  /** A call ended with a value. */
  'call.succeeded': CallFact & { attempts: number; elapsedMs: number };
  /** A call ended with a failure: the one final record. `stack` where an error was thrown. */
  'call.failed': CallFact & { failure: Failure; retryCount: number; elapsedMs: number; stack?: string | undefined };
  /** The first call of an episode was refused before dispatch; `refused` counts the ones before it that were not told. */
  'call.refused': CallFact & { kind: FailureKind; message: string; retryAfterMs?: number | undefined; refused: number };
  /** An attempt that had been given up ended after all; its result is not delivered. */
  'call.late': CallFact & { attempt: number; ok: boolean; lateByMs: number; error?: string | undefined };
  /** The work of an attempt outlived abort and grace; its place is given to others. */
  'call.abandoned': CallFact & { attempt: number; abandoned: number };
  /** A fallback answered in place of the integration. */
  'call.fell_back': CallFact & { kind: FailureKind };

  /** The machine of an integration changed its state. */
  'integration.changed': { integration: string; from: string; to: string };
  'breaker.opened': { integration: string; openForMs: number; kind: FailureKind | 'isolated' };
  'breaker.half_opened': { integration: string };
  'breaker.closed': { integration: string };
  /** The other side asked for a pause (429). */
  'integration.paused': { integration: string; pauseMs: number };
  /** What is behind the integration is gone. */
  'integration.crashed': { integration: string; message: string };
  'integration.restarted': { integration: string; downMs: number };

  'session.started': { session: string; incarnation: number };
  'session.refused': { session: string; kind: string; reason: 'mailbox_full' | 'stopped'; refused: number };
  /** A heartbeat made room for a newer one (drop-oldest), or joined one that waits (coalesce). */
  'session.heartbeat_dropped': { session: string; reason: 'drop_oldest' | 'coalesced' };
  'session.turn_started': { session: string; turn: number; message: string; kind: string };
  'session.turn_ended': {
    session: string;
    turn: number;
    kind: string;
    ok: boolean;
    elapsedMs: number;
    error?: string | undefined;
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
  /** The agent asks for the operator. */
  'session.escalated': { session: string; turn: number; reason: string };
  /** A result arrived after its call had been answered. */
  'session.late_result': { session: string; turn: number; call: string; tool: string };

  'process.started': { process: string; pid: number; command: string };
  'process.exited': {
    process: string;
    pid?: number | undefined;
    reason: string;
    exitCode?: number | undefined;
    signal?: string | undefined;
    elapsedMs: number;
  };
  /** A line a child wrote where the protocol allows none, or to stderr. Told at debug level. */
  'process.stray_output': { process: string; stream: 'stdout' | 'stderr'; line: string };

  /** A hook threw, rejected or hung; the main operation goes on. */
  'hook.failed': {
    hook: string;
    event: string;
    action: string;
    session?: string | undefined;
    error: string;
    stack?: string | undefined;
  };
  /** A tool of an MCP server answered with an error. */
  'mcp.tool_failed': { integration: string; tool: string; input: unknown; error: string };

  'child.started': { child: string; incarnation: number };
  'child.crashed': { child: string; incarnation: number; error: string; stack?: string | undefined };
  'child.restarting': { child: string; restarts: number; delayMs: number };
  'child.quarantined': { child: string; restarts: number; error: string };
  'child.stopped': { child: string; reason: 'normal' | 'shutdown' | 'killed' | 'failure' };
  /** A supervisor used up its restart window. */
  'supervisor.gave_up': { supervisor: string; child: string; restarts: number; periodMs: number };
  /** A message was sent to an actor that is gone. */
  'message.dead_letter': { to: string; message: string };

  'store.degraded': { reason: string; fix: string };
  'store.recovered': { queued: number; dropped: number; downMs: number };
  /** A subscriber threw; it is contained. */
  'listener.failed': { event: string; error: string; stack?: string | undefined };
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
export type FactOf<T extends FactType> = Extract<Fact, { type: T }>;

/** A fact as it reaches its listeners: `at` is the wall time it was told, in ms since the epoch. */
export type Told<F> = F & { readonly at: number };

/** Where facts are told. Telling never throws. */
export interface Facts {
  tell(fact: Fact): void;
  /** Whether anybody listens to this type, so that frequent facts need not be built for nobody. */
  wants(type: FactType): boolean;
}
