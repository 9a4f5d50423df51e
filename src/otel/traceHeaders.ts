import { type Context, isSpanContextValid, propagation, trace } from '@opentelemetry/api';
import type { TraceContext } from '../calls/tracing.ts';

/**
 * A context as it is handed on: as the propagator of the host says, and where it has none, by W3C Trace Context. Undefined where there is
 * no trace.
 */
export function traceHeaders(context: Context): TraceContext | undefined {
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
