import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  type DataPoint,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { onTestFinished } from 'vitest';
import { createGateway, type Gateway, type GatewayOptions } from '../../src/index.ts';
import type { Providers } from '../../otel/attachTelemetry.ts';
import { withTelemetry } from '../../otel/index.ts';
import { SimulatedClock } from '../../testing/index.ts';

export interface Exported {
  readonly tracerProvider: BasicTracerProvider;
  /** Takes telemetry off. */
  readonly off: () => void;
  /** The spans that have ended, in the order of their ends. */
  spans(): readonly ReadableSpan[];
  /** The one that has ended under this name. */
  span(name: string): ReadableSpan;
  /** All metrics as they are exported now. */
  metrics(): Promise<readonly ResourceMetrics[]>;
  /** The points of one metric. */
  points(name: string): Promise<readonly DataPoint<unknown>[]>;
}

export interface Telemetry extends Exported {
  readonly gateway: Gateway;
  readonly clock: SimulatedClock;
}

/** A host with the SDK of OpenTelemetry: its context manager is registered for the test. */
export function registerContext(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(() => context.disable());
}

/** A started gateway with telemetry, whose time moves when the test says so. */
export async function startTelemetry(
  declare: (gateway: Gateway) => void,
  options: GatewayOptions = {},
): Promise<Telemetry> {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, ...options });
  const telemetry = telemetryOf(gateway, clock);
  declare(gateway);
  await gateway.start();
  return telemetry;
}

/** Puts telemetry on a gateway; both end with the test. */
export function telemetryOf(gateway: Gateway, clock: SimulatedClock): Telemetry {
  const exported = exportedBy((providers) => withTelemetry(gateway, providers));
  onTestFinished(async () => {
    const stopped = gateway.stop();
    await clock.advance(60_000);
    await stopped;
  });
  return { gateway, clock, ...exported };
}

/** What a host exports that is given the providers. */
export function exportedBy(attach: (providers: Providers) => () => void): Exported {
  const exported = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exported)] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  // It exports when it is told to, and not before the test has ended.
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const off = attach({ tracerProvider, meterProvider });
  onTestFinished(async () => {
    await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
  });

  const metrics = async (): Promise<readonly ResourceMetrics[]> => {
    exporter.reset();
    await reader.forceFlush();
    return exporter.getMetrics();
  };
  return {
    tracerProvider,
    off,
    spans: () => exported.getFinishedSpans(),
    span(name) {
      const found = exported.getFinishedSpans().filter((span) => span.name === name);
      const [only, second] = found;
      if (only === undefined || second !== undefined) {
        const names = exported.getFinishedSpans().map((span) => span.name);
        throw new Error(`Expected one span ${name}, got ${JSON.stringify(names)}`);
      }
      return only;
    },
    metrics,
    async points(name) {
      const all = (await metrics()).flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics));
      return all
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }) => dataPoints as DataPoint<unknown>[]);
    },
  };
}
