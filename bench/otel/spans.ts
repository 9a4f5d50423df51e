import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { withTelemetry } from '../../otel/index.ts';

/** Spans are made and ended, and go nowhere: what sends them is the same on both sides. */
const nowhere: SpanProcessor = {
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const tracerProvider = new BasicTracerProvider({ spanProcessors: [nowhere] });
const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })],
});

/** @returns how to take it off. */
export function telemetryOn(gateway: Parameters<typeof withTelemetry>[0]): () => void {
  const off = withTelemetry(gateway, { tracerProvider, meterProvider });
  return () => {
    off();
    void meterProvider.shutdown();
  };
}

/** What a host writes that wants a span and a duration of each call, by the names that we have. */
export function spanByHand(call: (input: number) => PromiseLike<unknown>): (input: number) => Promise<void> {
  const tracer = tracerProvider.getTracer('host');
  const histogram = meterProvider.getMeter('host').createHistogram('call.duration', { unit: 's' });
  const shared = { 'unwedge.integration': 'work', 'unwedge.integration.type': 'function' };
  return async (input) => {
    const began = performance.now();
    const attributes = { ...shared, 'unwedge.call.id': `work-${input}` };
    const span = tracer.startSpan('call work', { kind: SpanKind.INTERNAL, attributes });
    await context.with(trace.setSpan(context.active(), span), () => call(input));
    span.setAttribute('unwedge.call.attempts', 1);
    span.end();
    histogram.record((performance.now() - began) / 1000, shared);
  };
}
