import { defineSuite } from '../harness/suite.ts';
import { loaded, withoutTracer, withSdk } from './cases.ts';

/** What telemetry costs those who do not ask for it, and those who do. */
export const otelSuite = defineSuite({
  name: 'otel',
  about:
    'A call that succeeds at once. Without an SDK: in turn with the same call on a path that has no place for a tracer. With the SDK of OpenTelemetry, whose spans go nowhere: in turn with a ' +
    'call without telemetry that its host has put a span, a context and a histogram around.',
  baseline: 'without',
  subjects: [
    { name: 'without', about: 'nobody asks for telemetry', cases: { 'in turn': withoutTracer, loaded } },
    { name: 'with the SDK', about: 'withTelemetry(gateway)', cases: { told: withSdk } },
  ],
  targets: [
    {
      says: 'CPU time of a call that nobody follows, against one on a path that nobody could follow',
      of: { subject: 'without', case: 'in turn', metric: 'over a call without the place' },
      by: 'median',
      atMost: 1.1,
    },
    {
      says: 'modules of OpenTelemetry that are loaded where nobody asks for it',
      of: { subject: 'without', case: 'loaded', metric: 'modules of OpenTelemetry' },
      by: 'median',
      atMost: 0,
    },
    {
      says: 'modules that are seen where somebody does',
      of: { subject: 'with the SDK', case: 'told', metric: 'modules of OpenTelemetry' },
      by: 'median',
      atLeast: 1,
    },
    {
      says: 'CPU time of a call with a span of ours, against one with a span of its host',
      of: { subject: 'with the SDK', case: 'told', metric: 'over by hand' },
      by: 'median',
      atMost: 2,
    },
  ],
});
