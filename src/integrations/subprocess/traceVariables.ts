import type { TraceContext } from '../../calls/tracing.ts';

/** Trace context as variables of a child: `traceparent` is `TRACEPARENT`, as tools that continue a trace read it. */
export function traceVariables(context: TraceContext | undefined): Readonly<Record<string, string>> {
  const variables = Object.entries(context ?? {}).map(([name, value]) => [
    name.toUpperCase().replaceAll(/[^A-Z\d]/g, '_'),
    value,
  ]);
  return Object.fromEntries(variables) as Record<string, string>;
}
