import type { FailureFacts, Outcome } from '../policy/failures/failure.ts';
import type { IntegrationType } from '../policy/integrationAbout.ts';
import type { Finding } from '../policy/reconcileMatch.ts';

/** Trace context by the names of its headers (`traceparent`, `tracestate`), as it is handed on to another process. */
export type TraceContext = Readonly<Record<string, string>>;

/** A call as a tracer is told of it; nothing of its input but names. */
export interface TracedCall {
  readonly integration: string;
  readonly number: number;
  readonly type: IntegrationType | undefined;
  readonly tool: string | undefined;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly label: string | undefined;
  readonly session: string | undefined;
  /** The method of a request of HTTP or MCP. */
  readonly method: string | undefined;
  /** The prompt that a request of MCP asks for. */
  readonly prompt?: string | undefined;
  /** The id that a request of JSON-RPC came with. */
  readonly requestId?: string | undefined;
  /** Provider whose protocol a request to a model speaks. */
  readonly modelApi?: 'anthropic' | 'openai' | undefined;
  /** The server of an HTTP API. */
  readonly server: { readonly host: string; readonly port: number } | undefined;
}

/** A request that came to this process, as a tracer is told of it; nothing of it but names. */
export interface TracedRequest {
  readonly protocol: 'mcp' | 'http';
  /** The integration that answers it. */
  readonly integration: string;
  readonly method: string;
  readonly tool?: string | undefined;
  readonly prompt?: string | undefined;
  readonly requestId?: string | undefined;
  /** The pattern of its path, where it is a known one. */
  readonly route?: string | undefined;
  /** Context that it belongs to on the side that asks. */
  readonly from: TraceContext | undefined;
}

/** A turn of a session as a tracer is told of it. */
export interface TracedTurn {
  readonly session: string;
  readonly turn: number;
  readonly kind: string;
  /** Value of {@link Tracer.here} when its message was sent; undefined of one that was sent before there was a tracer. */
  readonly origin: unknown;
}

/** Follows one piece of work. Its methods do not throw, but for what the work throws. */
export interface Trace {
  /** Runs work as part of it: calls that are made there belong to it. */
  run<T>(work: () => T): T;
  ended(outcome: Outcome<unknown>): void;
}

/** End of a call. */
export interface CallEnd {
  readonly outcome: Outcome<unknown>;
  readonly attempts: number;
  /** Its failure, where a fallback answered in place of the integration. */
  readonly fellBackFor: FailureFacts | undefined;
}

/** Question about a lost answer. */
export interface Reconciling {
  /** A tool, or a function. */
  readonly asks: string;
  readonly attempt: number;
  /** Facts about the loss of its answer. */
  readonly facts: FailureFacts;
}

/** Follows one call. */
export interface CallTrace extends Pick<Trace, 'run'> {
  /** Context that its work hands on to the other side; undefined where there is nothing to hand on. */
  readonly context: TraceContext | undefined;
  /** An attempt failed. @param delayMs - until the next one; `null`: when the integration has restarted; undefined: there is none. */
  attemptFailed(attempt: number, facts: FailureFacts, delayMs: number | null | undefined): void;
  /** The call waits: for what. */
  waits(waiting: string): void;
  /** The answer of an attempt is lost, and it is asked what became of the call. */
  reconciling(question: Reconciling): void;
  /** That is known now, or will not be. */
  reconciled(finding: Pick<Finding, 'verdict' | 'how'>): void;
  callEnded(end: CallEnd): void;
}

/** Follows calls and turns from their beginning to their end. Its methods do not throw. */
export interface Tracer {
  /** A call was made; asked where its caller stands. */
  callBegins(call: TracedCall): CallTrace;
  turnBegins(turn: TracedTurn): Trace;
  /** A request came; its end is that of its answer. */
  requestBegins(request: TracedRequest): Trace;
  /** Returns the work under way where it is asked. */
  here(): unknown;
}

/** Holder of a runtime's tracer, for as long as a host asks for telemetry. */
export interface Tracing {
  tracer: Tracer | undefined;
}
