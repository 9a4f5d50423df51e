import {
  type Context,
  createTraceState,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import type { TraceContext } from '../src/calls/face.ts';

/** `traceparent` of version 00, and of later ones, whose further fields say nothing to us. */
const parent = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;

/**
 * The context that came with something, as the propagator of the host reads it, and where it has none, by W3C Trace Context. The root where
 * none came, or it cannot be read.
 */
export function contextOf(headers: TraceContext | undefined): Context {
  if (headers === undefined) return ROOT_CONTEXT;
  if (propagation.fields().length > 0) return propagation.extract(ROOT_CONTEXT, headers);
  const [, traceId = '', spanId = '', flags = ''] = parent.exec(headers['traceparent'] ?? '') ?? [];
  const state = headers['tracestate'];
  const span: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  };
  return isSpanContextValid(span) ? trace.setSpanContext(ROOT_CONTEXT, span) : ROOT_CONTEXT;
}
