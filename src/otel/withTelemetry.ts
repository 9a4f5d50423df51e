import { type MeterProvider, metrics, trace, type TracerProvider } from '@opentelemetry/api';
import { read } from '../policy/errorChain.ts';
import { type KeysOf, test } from '../policy/optionKeys.ts';
import { say } from '../policy/logger.ts';
import { readOptions } from '../policy/readOptions.ts';
import { show } from '../policy/showValue.ts';
import { messageOf } from '../policy/thrown.ts';
import { registryOf } from '../runtime/registryOf.ts';
import { Instruments } from './instruments.ts';
import { observe } from './gauges.ts';
import { RedactedTexts } from './redactedTexts.ts';
import { SpanTracer } from './spanTracer.ts';

/** Where spans and metrics go. */
export interface TelemetryOptions {
  /** Makes the spans. @defaultValue that of the process, as its SDK has registered it */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the metrics. @defaultValue that of the process; register its SDK before, as the API hands out nothing that follows a later one */
  readonly meterProvider?: MeterProvider | undefined;
}

/** A gateway, as `createGateway` makes it. */
export interface Traced {
  start(): Promise<void>;
}

const has = (method: string) => (value: unknown) => typeof read(value, method) === 'function';

const telemetryKeys = {
  tracerProvider: test<TracerProvider>('a TracerProvider of OpenTelemetry', has('getTracer')),
  meterProvider: test<MeterProvider>('a MeterProvider of OpenTelemetry', has('getMeter')),
} satisfies KeysOf<TelemetryOptions>;

/**
 * Has a gateway tell OpenTelemetry of itself: a span of each call and each turn, durations and counts as metrics, and the trace context handed
 * on to MCP servers, HTTP APIs and commands. Nothing of inputs, results or prompts is told, and no secret. It ends with the gateway.
 *
 * @returns how to take it off; what is under way is still told to its end.
 * @throws TypeError when an option is wrong, the gateway is none, or it has telemetry already.
 *
 * @example
 * const gateway = createGateway();
 * withTelemetry(gateway);
 */
export function withTelemetry(gateway: Traced, options: TelemetryOptions = {}): () => void {
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = readOptions(
    '',
    options,
    telemetryKeys,
  );
  const observed = typeof gateway === 'object' && gateway !== null ? registryOf(gateway) : undefined;
  if (observed === undefined) throw new TypeError(`Expected \`gateway\` to be a gateway, got ${show(gateway)}`);
  const { runtime } = observed;
  const { tracing, clock, logger } = runtime;
  if (tracing.tracer !== undefined)
    throw new TypeError('Expected a gateway without telemetry: this one has it already');
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
  const instruments = new Instruments(meter);
  const tracer = new SpanTracer(tracerProvider.getTracer(scopeName), { clock, texts, instruments, safely });
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
