import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createActor } from 'xstate';
import { type McpConnectionHost, mcpChild } from '../../../src/actors/mcp/mcpConnection.ts';
import type { McpConnection, McpRequestContext } from '../../../src/actors/mcp/mcpClient.ts';
import type { McpServerOptions } from '../../../src/actors/mcp/mcpServerOptions.ts';
import type { ConnectionEmitted, ConnectionRef } from '../../../src/machines/connection.ts';
import type { FailureFacts } from '../../../src/policy/failures/failure.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import type { FaultyMcpServerOptions } from '../../../testing/faultyMcpServer.ts';
import { faultyServer } from '../../support/faultyServer.ts';
import { moment } from '../../support/moment.ts';
import { isAlive } from '../../support/temporary.ts';

export { isAlive };

export const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}.mjs`, import.meta.url));

interface StartedServer {
  readonly actor: ConnectionRef;
  readonly ready: Promise<McpConnection>;
  /** The output of its actor. */
  readonly done: Promise<unknown>;
  /** Lines outside the protocol, each after the name of its stream. */
  readonly stray: readonly string[];
  /** Resolves with the first such line that matches. */
  readonly heard: (pattern: RegExp) => Promise<string>;
  readonly losses: readonly FailureFacts[];
  readonly emitted: readonly ConnectionEmitted[];
  readonly pid: () => number;
}

/** Starts one incarnation of an MCP server, by its script, as its supervisor would, and gathers all it tells. */
export function startServer(
  script: FaultyMcpServerOptions = {},
  options: Partial<McpServerOptions & McpConnectionHost> = {},
): StartedServer {
  const stray: string[] = [];
  const losses: FailureFacts[] = [];
  const emitted: ConnectionEmitted[] = [];
  const ready = deferred<McpConnection>();
  const done = deferred<unknown>();
  const heard = createListener(stray);
  const { logic, input } = mcpChild({
    ...faultyServer(script),
    clock: systemClock,
    onReady: ready.resolve,
    onLost: (facts) => losses.push(facts),
    onStray: (stream, line) => heard.push(`${stream}: ${line}`),
    ...options,
  });
  const actor = createActor(logic, { input });
  actor.on('*', (event) => emitted.push(event));
  actor.subscribe({ error: done.reject, complete: () => done.resolve(actor.getSnapshot().output) });
  onTestFinished(() => void actor.stop());
  actor.start();
  const pid = (): number => {
    const first = emitted.find((event) => event.type === 'process.started');
    if (first === undefined) throw new Error('No process was started');
    return first.pid;
  };
  return { actor, ready: ready.promise, done: done.promise, stray, heard: heard.next, losses, emitted, pid };
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}

/** A list of lines, and a way to wait for one that matches. */
function createListener(lines: string[]) {
  const waiting = new Set<() => void>();
  return {
    push(line: string): void {
      lines.push(line);
      for (const look of waiting) look();
    },
    next: (pattern: RegExp): Promise<string> =>
      new Promise((resolve) => {
        const look = (): void => {
          const line = lines.find((text) => pattern.test(text));
          if (line === undefined) return;
          waiting.delete(look);
          resolve(line);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** What a request needs, with a count of its signs of life. */
export function requestContext(): {
  context: McpRequestContext;
  abort: (reason?: unknown) => void;
  touches: () => number;
  /** The first sign of life. */
  touched: Promise<void>;
} {
  const controller = new AbortController();
  const first = deferred<void>();
  let touches = 0;
  const context = {
    signal: controller.signal,
    touch() {
      touches += 1;
      first.resolve();
    },
  };
  return {
    context,
    abort: (reason?: unknown) => controller.abort(reason),
    touches: () => touches,
    touched: first.promise,
  };
}

/** Resolves when the process is gone; the test's own limit is the only bound. */
export async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await moment();
}

/** The facts a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<FailureFacts> {
  try {
    await promise;
  } catch (error) {
    return (error as { facts: FailureFacts }).facts;
  }
  throw new Error('It did not reject');
}

/** A server that neither the end of its stdin nor SIGTERM ends. */
export const stubborn = { ignoreSigterm: true, ignoreStdinEnd: true } as const;

/** A server with a tool that hangs once it has shown that its call has begun. */
export const hanging: FaultyMcpServerOptions = { faults: [{ tool: 'hang', do: 'hang', progress: 1 }] };

/** Why the requests were cancelled that the server was told to forget, as text. */
export async function cancellations(connection: McpConnection): Promise<unknown[]> {
  const received = await connection.callTool({ name: 'received' }, requestContext().context);
  const messages = JSON.parse(textOf(received)) as { method: string; params: { reason?: unknown } }[];
  return messages.flatMap(({ method, params }) => (method === 'notifications/cancelled' ? [params.reason] : []));
}

export const textOf = (result: { content: readonly object[] }): string =>
  result.content.map((part) => ('text' in part ? part.text : '')).join('\n');
