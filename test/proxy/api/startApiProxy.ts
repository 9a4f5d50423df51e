import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { onTestFinished } from 'vitest';
import { ApiProxy, startApiServer } from '../../../proxy/api/apiProxy.ts';
import type { ApiProxyOptions } from '../../../proxy/api/settings.ts';
import type { Fact, FactOf, FactType } from '../../../src/policy/facts/facts.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import { checkGatewayOptions, type GatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { faultyModelApi, type ModelScript } from '../../../testing/faultyModelApi.ts';
import { SkippingClock } from '../../support/skippingClock.ts';

/** What a client got. */
export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the body ended in good order. */
  readonly whole: boolean;
  /** Whether the connection was reset, and not closed. */
  readonly wasReset: boolean;
}

export interface AskOptions {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

/** A request under way. */
export interface Asking {
  /** Resolves with what came of it; rejects when there was no answer at all. */
  readonly got: Promise<Got>;
  /** Resolves once the text has come so often. */
  saw(text: string, times?: number): Promise<void>;
  leave(): void;
}

export const streamed = (extra: object = {}): string =>
  JSON.stringify({ model: 'faulty-1', stream: true, messages: [{ role: 'user', content: 'hello' }], ...extra });

/** Sends a request and reads all that comes. */
export function ask(origin: string, options: AskOptions = {}): Asking {
  const {
    path = '/v1/messages',
    method = 'POST',
    body = method === 'POST' ? streamed() : undefined,
    headers = {},
    agent,
  } = options;
  let text = '';
  const watchers = new Set<() => void>();
  const sent = request(`${origin}${path}`, {
    method,
    agent: agent ?? false,
    headers: { 'content-type': 'application/json', 'user-agent': 'test/1', 'x-api-key': 'key-one', ...headers },
  });
  const got = new Promise<Got>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const end = (whole: boolean, wasReset = false): void =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, whole, wasReset });
      // Of a close the answer alone is told.
      sent.off('error', reject).on('error', () => end(false, true));
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
        for (const watcher of watchers) watcher();
      });
      answer.on('end', () => end(answer.complete));
      answer.on('error', () => setImmediate(() => end(false)));
    });
  });
  got.catch(() => undefined);
  sent.end(body);
  return {
    got,
    saw: (wanted, times = 1) =>
      new Promise((resolve) => {
        const watcher = (): void => {
          if (text.split(wanted).length > times) resolve();
        };
        watchers.add(watcher);
        watcher();
      }),
    leave: () => sent.destroy(),
  };
}

/** Waits so short that a test need not wait for them. */
export const quick: PolicyInput = {
  retry: { backoff: { kind: 'constant', delayMs: 1 } },
  breaker: { consecutiveFailures: 1000, failureRatio: 1, minimumAttempts: 50 },
};

export interface Started extends Partial<ApiProxyOptions> {
  readonly script?: ModelScript;
  readonly policy?: PolicyInput;
  readonly gateway?: GatewayOptions;
}

/** The proxy before a model API that answers by a script, on ports of their own. */
export async function startApiProxy({ script = [{}], policy = quick, gateway = {}, ...options }: Started = {}) {
  const api = await faultyModelApi(script);
  const clock = new SkippingClock();
  const policies = { integrations: { model: policy, 'model:fallback': policy } };
  const registry = new Registry(checkGatewayOptions({ clock, random: () => 0.5, policies, ...gateway }));
  const facts: Fact[] = [];
  const watchers = new Set<() => void>();
  registry.runtime.bus.on('*', (fact) => {
    facts.push(fact);
    for (const watcher of watchers) watcher();
  });
  await registry.start();
  const proxy = new ApiProxy(registry.runtime, { upstream: api.url, name: 'model', ...options });
  const server = await startApiServer(proxy, { clock });
  const stop = async (): Promise<void> => {
    await registry.stop();
    await server.close();
    await api.close();
  };
  onTestFinished(stop);
  const of = <T extends FactType>(type: T): FactOf<T>[] =>
    facts.filter((fact): fact is FactOf<T> => fact.type === type);
  return {
    api,
    clock,
    registry,
    proxy,
    server,
    facts,
    of,
    stop,
    origin: server.origin,
    ask: (asked?: AskOptions) => ask(server.origin, asked),
    /** Resolves once so many facts of a type were told. */
    told: <T extends FactType>(type: T, count = 1) =>
      new Promise<FactOf<T>>((resolve) => {
        const look = (): void => {
          const fact = of(type)[count - 1];
          if (fact !== undefined) resolve(fact);
        };
        watchers.add(look);
        look();
      }),
  };
}
