import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { say } from '../policy/logger.ts';
import { messageOf } from '../policy/thrown.ts';
import type { Observed } from '../runtime/registryOf.ts';
import { observe } from './gauges.ts';
import { Instruments } from './instruments.ts';
import { RedactedTexts } from './redactedTexts.ts';
import { SpanTracer } from './spanTracer.ts';

/** Destinations of spans and metrics of a host. */
export interface Providers {
  readonly tracerProvider: TracerProvider;
  readonly meterProvider: MeterProvider;
  /** Tells names that the conventions have given up beside those of now. */
  readonly earlierNames?: boolean | undefined;
}

/** Has a host without telemetry tell of itself until it ends. @returns how to take it off before. */
export function attachTelemetry(
  observed: Observed,
  { tracerProvider, meterProvider, earlierNames = false }: Providers,
): () => void {
  const { runtime } = observed;
  const { tracing, clock, logger } = runtime;
  if (runtime.stopped) return () => undefined;

  let said = false;
  const safely = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      // Said once: it would be so for every call.
      if (!said) say(logger, 'warn', `OpenTelemetry failed: ${messageOf(error)}`);
      said = true;
    }
  };
  const texts = new RedactedTexts(runtime.redactAnswer);
  const meter = meterProvider.getMeter(scopeName);
  const instruments = new Instruments(meter, earlierNames);
  const tracer = new SpanTracer(tracerProvider.getTracer(scopeName), {
    clock,
    texts,
    instruments,
    earlierNames,
    safely,
  });
  const ended = observe({ runtime, paths: () => observed.paths, sessions: () => observed.sessions }, meter, texts);
  tracing.tracer = tracer;

  const off = (): void => {
    if (tracing.tracer !== tracer) return;
    tracing.tracer = undefined;
    leave();
    safely(ended);
  };
  const leave = runtime.join({ afterChildren: off });
  return off;
}

/** The instrumentation scope. */
const scopeName = 'unwedge';
