import type { Outcome } from '../../src/policy/failures/face.ts';
import type { Logger } from '../../src/policy/text/face.ts';
import {
  anyObject,
  anything,
  checkName,
  checkObject,
  integer,
  name as anyName,
  readOptions,
  readValue,
} from '../../src/policy/options/face.ts';
import {
  type GatewayOptions,
  type IntegrationKind,
  Registry,
  type Runtime,
  checkGatewayOptions,
  defineKind,
  withRegistry,
} from '../../src/runtime/face.ts';
import { logToHost } from '../../src/telemetry/face.ts';
import { CodexCalls } from './codexCalls.ts';
import { CodexClient } from './codexClient.ts';
import { createLateCodex } from './codexLate.ts';
import type { CodexOptions } from './codexOptions.ts';
import { codexScope } from './codexOptions.ts';
import { type Codex, ownThreadKeys, requestKeys } from './codexTypes.ts';
import { readThreadList } from './protocol/threads.ts';

/** Part of the host in its Codex. */
interface CodexHost {
  /** Logger of its diagnostics. */
  readonly logger: Logger | undefined;
  /** Ends what was made for this Codex alone. @defaultValue the app-server */
  readonly close?: (() => Promise<void>) | undefined;
}

const listKeys = { limit: integer(), cursor: anything };

/**
 * An integration over Codex's app-server: each turn is a call of it, with one attempt, behind one breaker. The app-server
 * is a temporary child of the root supervisor, started by the first thread or turn that needs it, and by the next one after a crash.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseCodex(
  runtime: Runtime,
  name: string,
  options: CodexOptions,
  { logger, close }: CodexHost,
): Codex {
  const scope = codexScope(runtime, name, options, logger);
  const server = createLateCodex(scope);
  const calls = new CodexCalls(scope, server);
  const client = new CodexClient(scope, server, calls);
  const { integration } = calls;

  return {
    name,
    get state() {
      return server.state;
    },
    breaker: integration.breaker,
    get stats() {
      return integration.stats;
    },
    connect: () => client.connect(),
    startThread(threadOptions = {}) {
      readOptions('options', threadOptions, ownThreadKeys);
      return client.openThread('thread/start', threadOptions, {});
    },
    resumeThread(id, threadOptions = {}) {
      readValue('id', id, anyName);
      readOptions('options', threadOptions, ownThreadKeys);
      return client.openThread('thread/resume', threadOptions, { threadId: id });
    },
    listThreads(listOptions = {}) {
      const { limit, cursor } = readOptions('options', listOptions, listKeys);
      const params = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
      return client.ask('thread/list', params, {}, readThreadList);
    },
    request(method, params = {}, requestOptions = {}) {
      readValue('method', method, anyName);
      readValue('params', params, anyObject);
      return client.request(method, params, readOptions('options', requestOptions, requestKeys));
    },
    health: () => client.health(),
    on(method, listener) {
      readValue('method', method, anyName);
      return server.subscribers.listen(method, listener);
    },
    notifications: (streamOptions) => server.subscribers.stream(streamOptions),
    close: close ?? (() => server.close()),
  };
}

/** Methods that a gateway has with {@link codexKind}. */
export interface CodexMethods {
  /**
   * Codex's app-server, started by the first thread that needs it: each turn is a call.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  codex(name: string, options?: CodexOptions): Codex;
}

/**
 * Codex's app-server as an integration of a gateway.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite', kinds: [codexKind] });
 * const codex = gateway.codex('codex');
 */
export const codexKind: IntegrationKind<CodexMethods> = defineKind('codex', (runtime) => ({
  codex(name: string, options: CodexOptions = {}): Codex {
    runtime.declare(name);
    runtime.policies.refuseAbout(name, 'Codex', ['tools', 'reconcile', 'whenAlive', 'spinning', 'allow', 'deny']);
    return superviseCodex(runtime, name, options, { logger: runtime.logger });
  },
}));

/** A Codex of one's own, without a gateway. */
export interface ConnectCodexOptions
  extends CodexOptions,
    Pick<GatewayOptions, 'store' | 'clock' | 'random' | 'logger'> {
  /** Name of the integration, in records. @defaultValue 'codex' */
  readonly name?: string | undefined;
}

/**
 * Starts Codex's app-server under a runtime of its own, which `close()` ends.
 * @returns the connection, or why there is none: never rejects for what Codex does.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 *
 * @example
 * const codex = unwrap(await connectCodex({ approve: async ({ kind }) => (kind === 'command' ? 'accept' : 'decline') }));
 * const thread = unwrap(await codex.startThread({ cwd, approvalPolicy: 'on-request' }));
 * const turn = thread.send('Fix the failing test');
 * for await (const event of turn) if (event.type === 'text.delta') process.stdout.write(event.text);
 * const outcome = await turn.outcome;
 * await codex.close();
 */
export async function connectCodex(options: ConnectCodexOptions = {}): Promise<Outcome<Codex>> {
  checkObject('options', options);
  const { name = 'codex', store, clock, random, logger, ...own } = options;
  checkName('name', name);
  const checked = checkGatewayOptions({ store, clock, random, logger, control: false });
  const registry = new Registry(checked);
  const { runtime } = registry;
  logToHost(runtime.bus, runtime.clock, checked.logger);
  const close = (): Promise<void> => registry.stop();
  const codex = superviseCodex(runtime, name, own, { logger: checked.logger, close });
  await registry.start();
  const connected = await codex.connect();
  if (connected.ok) return { ok: true, value: withRegistry(registry, codex) };
  await close();
  return connected;
}
