import type { TraceContext } from '../../src/calls/face.ts';

/** Names of W3C Trace Context and Baggage. */
const names = ['traceparent', 'tracestate', 'baggage'] as const;
/** Longer values are left out; both specifications let them be cut. In characters. */
const longest = 8192;

/** The trace context that came with something, by a look-up of its fields; undefined where none came. */
export function inboundTrace(valueOf: (name: string) => unknown): TraceContext | undefined {
  if (typeof valueOf('traceparent') !== 'string') return undefined;
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = valueOf(name);
    if (typeof value === 'string' && value.length <= longest) found[name] = value;
  }
  return found;
}
