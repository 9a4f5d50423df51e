import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallOptions } from '../../src/calls/callOptions.ts';
import type { Integration } from '../../src/calls/integration.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Gateway } from '../../src/gateway/gatewayTypes.ts';
import type { GatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import { inspectionOf } from '../../src/inspector/inspection.ts';
import type { Turn } from '../../src/sessions/turn.ts';
import type { Case } from '../harness/suite.ts';

/** What differs from a plain call. */
export interface Feature {
  /** Calls in a round. @defaultValue 50000 */
  readonly calls?: number | undefined;
  readonly gateway?: GatewayOptions | undefined;
  /** Whether there is a file for the store. @defaultValue false */
  readonly file?: boolean | undefined;
  /** Whether the work looks at its signal. @defaultValue false */
  readonly readsSignal?: boolean | undefined;
  readonly options?: CallOptions<unknown, unknown> | undefined;
  /** What is switched on once the gateway is started; gives how to switch it off. */
  readonly on?: ((gateway: Gateway) => (() => void) | Promise<() => void>) | undefined;
  /** Whether a session makes the calls, as tools of a turn. @defaultValue false */
  readonly bySession?: boolean | undefined;
}

// Made once: a stack costs as much as all the rest.
const failure = Object.assign(new Error('no such thing'), { status: 404 });

interface Calls {
  readonly call: (input: unknown) => Promise<unknown>;
  readonly done: () => void;
}

/** Calls that succeed, one after the other. */
export function succeeds(feature: Feature): Case {
  return inTurn(feature, 'call', feature.calls ?? 50_000, false);
}

/** Calls that fail for good, one after the other. */
export function fails(feature: Feature): Case {
  return inTurn(feature, 'call', Math.min(feature.calls ?? 5000, 5000), true);
}

function inTurn(feature: Feature, metric: string, count: number, failing: boolean): Case {
  return {
    async measure(probe) {
      const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
      const store = feature.file === true ? { store: join(directory, 'features.sqlite'), control: false } : {};
      const gateway = createGateway({ ...store, ...feature.gateway });
      const integration = gateway.integration('work', { policy: { maxInFlight: 10 } }, workOf(feature, failing));
      await gateway.start();
      const off = await feature.on?.(gateway);
      const { call, done } = feature.bySession === true ? await callsOfSession(gateway) : callsOf(integration, feature);
      // As in `calls`: warm.
      for (let input = 0; input < count; input++) await call(input);
      await probe.time(metric, count, async () => {
        for (let input = 0; input < count; input++) await call(input);
      });
      done();
      off?.();
      await gateway.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

function workOf({ readsSignal }: Feature, failing: boolean) {
  if (failing) {
    return async (): Promise<unknown> => {
      throw failure;
    };
  }
  return readsSignal === true
    ? async (input: unknown, { signal }: { readonly signal: AbortSignal }) => (signal.aborted ? undefined : input)
    : async (input: unknown) => input;
}

function callsOf(integration: Integration<unknown, unknown>, { options }: Feature): Calls {
  const call: Calls['call'] = (input) => integration.call(input, options);
  return { call, done: () => undefined };
}

/** A session in the midst of a turn, which makes the calls. */
async function callsOfSession(gateway: Gateway): Promise<Calls> {
  let done = (): void => {};
  const turn = await new Promise<Turn>((resolve) => {
    const session = gateway.session('agent:main', {
      onMessage: (_message, begun) =>
        new Promise((end) => {
          done = () => end(undefined);
          resolve(begun);
        }),
    });
    void session.send({ kind: 'user' });
  });
  const call: Calls['call'] = (input) => turn.tool('work', 'query', input);
  return { call, done: () => done() };
}

/** A viewer of the inspector that reads everything. */
export async function watch(gateway: Gateway): Promise<() => void> {
  const viewer = await inspectionOf(gateway)?.open();
  viewer?.on('data', () => undefined);
  return () => viewer?.destroy();
}

/** A stream of all events, read as they come. */
export function stream(gateway: Gateway): () => void {
  const events = gateway.events();
  void (async () => {
    for await (const _event of events);
  })();
  return () => void events.return?.();
}
