import { type MeterProvider, metrics, trace, type TracerProvider } from '@opentelemetry/api';
import { read } from '../src/policy/failures/face.ts';
import { type Given, boolean, readOptions, test } from '../src/policy/options/face.ts';
import { show } from '../src/policy/text/face.ts';
import { registryOf } from '../src/runtime/face.ts';
import { attachTelemetry } from './attachTelemetry.ts';

/** Owner of calls of its own: a gateway, an agent of `createAgent`, a connection of `connectCodex`, a Claude of `createClaude`. */
export type Traced = { start(...given: never[]): unknown } | { close(): unknown } | { stop(): unknown };

const has = (method: string) => (value: unknown) => typeof read(value, method) === 'function';

const telemetryKeys = {
  /** Makes the spans. @defaultValue that of the process, as its SDK has registered it */
  tracerProvider: test<TracerProvider>('a TracerProvider of OpenTelemetry', has('getTracer')),
  /** Makes the metrics. @defaultValue that of the process; register its SDK before, as the API hands out nothing that follows a later one */
  meterProvider: test<MeterProvider>('a MeterProvider of OpenTelemetry', has('getMeter')),
  /**
   * Tells what v0.1.0 of the GenAI conventions has renamed under its old name, too: `gen_ai.client.operation.duration`,
   * `gen_ai.workflow.duration`, `gen_ai.workflow.name`. For one release. @defaultValue false
   */
  earlierNames: boolean(),
};

/** Destinations of spans and metrics. */
export interface TelemetryOptions extends Given<typeof telemetryKeys> {}

/**
 * Has a gateway tell OpenTelemetry of itself: a span of each call and each turn, durations and counts as metrics, and the trace context handed
 * on to MCP servers, HTTP APIs and commands. Nothing of inputs, results or prompts is told, and no secret. It ends with the gateway.
 * An agent, a connection to Codex and a Claude of one's own are told of in the same way.
 *
 * @returns how to take it off; what is under way is still told to its end.
 * @throws TypeError when an option is wrong, the gateway is none, or it has telemetry already.
 *
 * @example
 * const gateway = createGateway();
 * withTelemetry(gateway);
 */
export function withTelemetry(gateway: Traced, options: TelemetryOptions = {}): () => void {
  const {
    tracerProvider = trace.getTracerProvider(),
    meterProvider = metrics.getMeterProvider(),
    earlierNames,
  } = readOptions('', options, telemetryKeys);
  const observed = typeof gateway === 'object' && gateway !== null ? registryOf(gateway) : undefined;
  if (observed === undefined) throw new TypeError(`Expected \`gateway\` to be a gateway, got ${show(gateway)}`);
  if (observed.runtime.tracing.tracer !== undefined)
    throw new TypeError('Expected a gateway without telemetry: this one has it already');
  return attachTelemetry(observed, { tracerProvider, meterProvider, earlierNames });
}
