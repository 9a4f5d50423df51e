import { diag } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exportByOtlp } from '../../otel/exportByOtlp.ts';
import { Registry } from '../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

/** An SDK that exports nothing. */
class NodeSDK {
  start(): void {}

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** What a host is told of so many different troubles of an export. */
function toldOf(troubles: number): readonly string[] {
  const told: string[] = [];
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, error: ignore, warn: (line: string) => void told.push(line) };
  const registry = new Registry(checkGatewayOptions({ clock: new SimulatedClock(), random: () => 0.5, logger }));
  exportByOtlp(registry, { NodeSDK }, undefined);
  onTestFinished(() => diag.disable());
  for (let trouble = 1; trouble <= troubles; trouble++) for (const _ of [1, 2]) diag.error(`trouble ${trouble}`);
  return told;
}

describe('the troubles of an export', () => {
  it('[O-5] are told by the first of them, which comes again and again', () => {
    vi.stubEnv('OTEL_LOG_LEVEL', undefined);
    expect(toldOf(3)).toEqual(['OpenTelemetry: trouble 1']);
  });

  it('[O-5] are told each once, a hundred of them, where OTEL_LOG_LEVEL asks for them', () => {
    vi.stubEnv('OTEL_LOG_LEVEL', 'error');
    const told = toldOf(110);
    expect([told.length, told.at(-1)]).toEqual([100, 'OpenTelemetry: trouble 100']);
  });
});
