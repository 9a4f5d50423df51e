import type { Logger } from '../../src/policy/logger.ts';
import { anyObject, anything, integer, name as anyName } from '../../src/policy/optionKeys.ts';
import { readOptions, readValue } from '../../src/policy/readOptions.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { CodexCalls } from './codexCalls.ts';
import { CodexClient } from './codexClient.ts';
import { createLateCodex } from './codexLate.ts';
import type { CodexOptions } from './codexOptions.ts';
import { codexScope } from './codexScope.ts';
import { type Codex, requestKeys } from './codexTypes.ts';

/** Part of the host in its Codex. */
interface CodexHost {
  /** Logger of its diagnostics. */
  readonly logger: Logger | undefined;
  /** Ends what was made for this Codex alone. @defaultValue the app-server */
  readonly close?: (() => Promise<void>) | undefined;
}

/** Keys that a thread is begun with, but for those an agent gives itself. */
export const threadKeys = {
  modelProvider: anything,
  approvalPolicy: anything,
  sandbox: anything,
  baseInstructions: anything,
  developerInstructions: anything,
  config: anything,
  params: anything,
};

const ownThreadKeys = { ...threadKeys, cwd: anything, model: anything, signal: anything };
const listKeys = { limit: integer(), cursor: anything };
const streamKeys = { methods: anything, limit: anything, signal: anything };

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
      return client.ask('thread/list', params, {}, (result) => server.readers.readThreadList(result));
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
    notifications(streamOptions = {}) {
      readOptions('options', streamOptions, streamKeys);
      return server.subscribers.stream(streamOptions);
    },
    close: close ?? (() => server.close()),
  };
}
