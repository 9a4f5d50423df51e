import {
  type Context,
  context,
  type HrTime,
  isSpanContextValid,
  propagation,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { CallEnd, CallTrace, Reconciling, TraceContext } from '../src/calls/face.ts';
import type { Clock } from '../src/policy/face.ts';
import type { FailureFacts } from '../src/policy/failures/face.ts';
import {
  attributesOfAnswer,
  attributesOfFailure,
  type CallShape,
  callsOfAnswer,
  figuresOfAnswer,
  own,
  standard,
} from './conventions.ts';
import type { Instruments } from './instruments.ts';
import type { RedactedTexts } from './redactedTexts.ts';

/** Parts that the spans of one gateway share. */
export interface SpanScope {
  readonly clock: Clock;
  readonly texts: RedactedTexts;
  readonly instruments: Instruments;
  /** True where the names of before v0.1.0 of the conventions are told, too. */
  readonly earlierNames: boolean;
  /** Contains what a span of the host's SDK, or a processor of it, throws: it must not end a call. */
  readonly safely: (run: () => void) => void;
}

/** A span and where it stands. */
export interface OpenSpan {
  readonly span: Span;
  /** In which its work runs. */
  readonly context: Context;
  /** Wall time and monotonic time, in ms. */
  readonly wallStart: number;
  readonly start: number;
}

/** The span of a call: one from its beginning to its end, with an event for each attempt that failed, each wait, and each question what became of it. */
export class CallSpan implements CallTrace {
  readonly #scope: SpanScope;
  readonly #shape: CallShape;
  readonly #open: OpenSpan;

  /** @param shape - redacted. */
  constructor(scope: SpanScope, shape: CallShape, open: OpenSpan) {
    this.#scope = scope;
    this.#shape = shape;
    this.#open = open;
  }

  get context(): TraceContext | undefined {
    let headers: TraceContext | undefined;
    this.#scope.safely(() => {
      headers = traceHeaders(this.#open.context);
    });
    return headers;
  }

  run<T>(work: () => T): T {
    return context.with(this.#open.context, work);
  }

  attemptFailed(attempt: number, facts: FailureFacts, delayMs: number | null | undefined): void {
    const { safely, instruments } = this.#scope;
    safely(() => {
      const delay = typeof delayMs === 'number' ? { [own.retryDelay]: delayMs / 1000 } : {};
      this.#tell(own.attemptFailed, { [own.attempt]: attempt, ...this.#failure(facts), ...delay });
      if (delayMs !== undefined) instruments.callRetried(String(this.#shape.attributes[own.integration]), facts.kind);
    });
  }

  waits(what: string): void {
    this.#scope.safely(() => this.#tell(own.waits, { [own.waitFor]: what }));
  }

  reconciling({ asks, attempt, facts }: Reconciling): void {
    const { safely, texts } = this.#scope;
    safely(() =>
      this.#tell(own.reconciling, { [own.asks]: texts.text(asks), [own.attempt]: attempt, ...this.#failure(facts) }),
    );
  }

  reconciled({ verdict, how }: Parameters<CallTrace['reconciled']>[0]): void {
    const { safely, texts } = this.#scope;
    safely(() => this.#tell(own.reconciled, { [own.verdict]: verdict, [own.verdictHow]: texts.text(how) }));
  }

  callEnded({ outcome, attempts, fellBackFor }: CallEnd): void {
    const { clock, instruments, texts, safely } = this.#scope;
    const { kind, attributes } = this.#shape;
    safely(() => {
      const { span, wallStart, start } = this.#open;
      const elapsedMs = Math.max(0, clock.now() - start);
      const ended = outcome.ok ? attributesOfAnswer(kind, outcome.value) : attributesOfFailure(kind, outcome.failure);
      span.setAttributes({ ...ended, [own.attempts]: attempts });
      if (standard.errorType in ended) span.setStatus({ code: SpanStatusCode.ERROR });
      const figures = outcome.ok ? figuresOfAnswer(kind, outcome.value) : {};
      span.setAttributes(texts.attributes(figures));
      if (kind === 'http' && attempts > 1) span.setAttribute(standard.resendCount, attempts - 1);
      if (!outcome.ok) {
        span.setAttributes({ ...this.#failure(outcome.failure), [own.effect]: outcome.failure.outcome });
        span.setStatus({ code: SpanStatusCode.ERROR, message: texts.text(outcome.failure.message) });
      } else if (fellBackFor !== undefined) {
        span.setAttributes({ ...this.#failure(fellBackFor), [own.fellBack]: true });
      }
      span.end(spanTime(wallStart + elapsedMs));
      instruments.callEnded(kind, elapsedMs, { ...attributes, ...ended });
      instruments.tokensUsed(figures, attributes);
      if (outcome.ok) instruments.agentCalled(callsOfAnswer(kind, outcome.value), attributes);
    });
  }

  #tell(name: string, attributes: Parameters<Span['setAttributes']>[0]): void {
    const { span, wallStart, start } = this.#open;
    span.addEvent(name, attributes, spanTime(wallStart + this.#scope.clock.now() - start));
  }

  #failure({ kind, reason, message }: FailureFacts): Parameters<Span['setAttributes']>[0] {
    const { texts } = this.#scope;
    return {
      [own.failureKind]: kind,
      ...(reason !== undefined && { [own.failureReason]: reason }),
      [own.failureMessage]: texts.text(message),
    };
  }
}

/**
 * A context as it is handed on: as the propagator of the host says, and where it has none, by W3C Trace Context. Undefined where there is
 * no trace.
 */
function traceHeaders(context: Context): TraceContext | undefined {
  const span = trace.getSpanContext(context);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const headers: Record<string, string> = {};
  propagation.inject(context, headers);
  if (Object.keys(headers).length > 0 || propagation.fields().length > 0) return headers;
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0');
  const state = span.traceState?.serialize() ?? '';
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(state !== '' && { tracestate: state }),
  };
}

/** Wall time in ms as OpenTelemetry takes it: as a number it would be guessed which clock it is of. */
export function spanTime(wallMs: number): HrTime {
  const seconds = Math.floor(wallMs / 1000);
  return [seconds, Math.round((wallMs - seconds * 1000) * 1e6)];
}
