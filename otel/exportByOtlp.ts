import { context, diag, DiagLogLevel, metrics, trace } from '@opentelemetry/api';
import type { TraceContext } from '../src/calls/face.ts';
import { formatDuration, say } from '../src/policy/text/face.ts';
import { inTime } from '../src/policy/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import type { Observed } from '../src/runtime/face.ts';
import { attachTelemetry } from './attachTelemetry.ts';
import { contextOf } from './traceContext.ts';

/** Part of the package `@opentelemetry/sdk-node` that is used, as it is since 0.200. */
export interface NodeSdkModule {
  readonly NodeSDK: new (options: {
    readonly serviceName: string | undefined;
    readonly logRecordProcessors: readonly never[];
  }) => { start(): void; shutdown(): Promise<void> };
}

/** The export of one host. */
interface OtlpExport {
  /** Runs work as part of the trace that the process was started in. */
  within<T>(work: () => T): T;
  /** Sends what is left. Never rejects. @returns whether it was all sent, and nothing of it is left in this process. */
  end(): Promise<boolean>;
}

/** Time that the end of a process may wait for what is left to be sent, in ms. */
const flushMs = 2000;
/** Texts that are told where `OTEL_LOG_LEVEL` asks for them; else the first alone: an export that fails is tried again and again. */
const mostTold = 100;

/**
 * Has a host tell of itself by OTLP, as the variables of OpenTelemetry say (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME` and the rest of
 * them). One for each process: its providers are those of the process.
 * @param startedIn - the trace that the process belongs to.
 */
export function exportByOtlp(observed: Observed, sdk: NodeSdkModule, startedIn: TraceContext | undefined): OtlpExport {
  const { clock, logger } = observed.runtime;
  const level = process.env['OTEL_LOG_LEVEL']?.toUpperCase();
  const told = new Set<string>();
  const tell = (message: string): void => {
    const text = reasonIn(message);
    if (told.has(text) || told.size >= (level === undefined ? 1 : mostTold)) return;
    told.add(text);
    say(logger, 'warn', `OpenTelemetry: ${text}`);
  };
  // Its console would write to stdout, which is somebody else's; the command line of a process holds secrets of its user.
  const own = { OTEL_LOG_LEVEL: undefined, OTEL_NODE_RESOURCE_DETECTORS: detectors() };
  const node = withVariables(own, () => {
    diag.setLogger({ error: tell, warn: tell, info: tell, debug: tell, verbose: tell }, levelOf(level ?? 'WARN'));
    const made = new sdk.NodeSDK({ serviceName: ownServiceName(), logRecordProcessors: [] });
    made.start();
    return made;
  });
  attachTelemetry(observed, {
    tracerProvider: trace.getTracerProvider(),
    meterProvider: metrics.getMeterProvider(),
    earlierNames: process.env['UNWEDGE_OTEL_EARLIER_NAMES'] === '1',
  });
  const around = contextOf(startedIn);
  return {
    within: (work) => context.with(around, work),
    async end() {
      const flushed = node.shutdown().then(
        () => true,
        (error: unknown) => {
          tell(messageOf(error));
          return true;
        },
      );
      if ((await inTime(flushed, { clock, limitMs: flushMs })) === true) return true;
      if (told.size === 0) tell(`not all spans and metrics could be sent within ${formatDuration(flushMs)}`);
      return false;
    },
  };
}

function levelOf(name: string): { readonly logLevel: DiagLogLevel; readonly suppressOverrideMessage: true } {
  const level: unknown = DiagLogLevel[name as keyof typeof DiagLogLevel];
  return { logLevel: typeof level === 'number' ? level : DiagLogLevel.WARN, suppressOverrideMessage: true };
}

/** Finds what an exporter failed of in an error as JSON; one that tried several addresses has no message of its own. */
function reasonIn(message: string): string {
  if (!message.startsWith('{')) return message;
  try {
    const { message: text, code, name } = JSON.parse(message) as Readonly<Record<string, unknown>>;
    return String(text || code || name);
  } catch {
    return message;
  }
}

/** Theirs where somebody has chosen. */
function detectors(): string {
  return process.env['OTEL_NODE_RESOURCE_DETECTORS'] ?? 'env,host';
}

/** Undefined where the environment names the service. */
function ownServiceName(): string | undefined {
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: attributes = '' } = process.env;
  return (name ?? '') !== '' || /(?:^|,)\s*service\.name\s*=/.test(attributes) ? undefined : 'unwedge';
}

/** Does work that reads the environment of this process, with some of it changed. */
function withVariables<T>(variables: Readonly<Record<string, string | undefined>>, work: () => T): T {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  try {
    assign(Object.entries(variables));
    return work();
  } finally {
    assign(before);
  }
}

function assign(variables: readonly (readonly [string, string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
