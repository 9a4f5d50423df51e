import { flag } from './command.ts';
import { inboundTrace } from '../proxy/wire/inboundTrace.ts';
import type { NodeSdkModule } from '../otel/exportByOtlp.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import type { Observed } from '../src/runtime/face.ts';
import { CommandError, UsageError } from './errors.ts';
import type { Io } from './io.ts';

/** The option of the commands that make calls. */
export const otelOption = flag(
  'send spans and metrics by OTLP, as the OTEL_ variables say; needs @opentelemetry/api and @opentelemetry/sdk-node beside unwedge',
);

/** The optional packages; names in variables, so that nothing looks for their types. */
const sdkPackage: string = '@opentelemetry/sdk-node';
const packages = ['@opentelemetry/api', sdkPackage];

/** Telemetry of a command. */
export interface Telemetry {
  /** Runs work as part of the trace that the process was started in (`TRACEPARENT`). */
  within<T>(work: () => T): T;
  /** Sends what is left, for 2 s at most. Never rejects. */
  end(): Promise<void>;
}

const none: Telemetry = { within: (work) => work(), end: () => Promise.resolve() };

/**
 * Has a host tell of itself from here on, where `--otel` asks for it.
 * @throws {@link CommandError} that names the packages to install.
 */
export async function startTelemetry(isAsked: boolean, observed: Observed, io: Io): Promise<Telemetry> {
  if (!isAsked) return none;
  for (const name of ['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER']) {
    if (io.env[name]?.split(',').some((each) => each.trim() === 'console') === true)
      throw new UsageError(`${name} is console, which would write into the output of the command: otlp is for --otel`);
  }
  const sdk = await load(() => import(sdkPackage) as Promise<NodeSdkModule>);
  const { exportByOtlp } = await load(() => import('../otel/exportByOtlp.ts'));
  const startedIn = inboundTrace((name) => io.env[name.toUpperCase()]);
  const exported = exportByOtlp(observed, sdk, startedIn);
  return {
    within: (work) => exported.within(work),
    async end() {
      // Data that is still on its way would hold the process.
      if (!(await exported.end())) io.endWithCommand?.();
    },
  };
}

async function load<T>(module: () => Promise<T>): Promise<T> {
  try {
    return await module();
  } catch (cause) {
    const message = messageOf(cause);
    const isMissing = packages.some((name) => message.includes(`'${name}'`));
    throw new CommandError(
      isMissing
        ? `--otel needs OpenTelemetry, which is not installed; run: npm install ${packages.join(' ')}`
        : `OpenTelemetry cannot be loaded: ${message}`,
      { cause },
    );
  }
}
