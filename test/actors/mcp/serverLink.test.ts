import { createActor } from 'xstate';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpConnection } from '../../../src/actors/mcp/mcpClient.ts';
import { mcpChildOf } from '../../../src/actors/mcp/mcpConnection.ts';
import type { ServerEnd, ServerLink, ServerLinkListener, ServerTarget } from '../../../src/actors/mcp/serverLink.ts';
import type { FailureFacts } from '../../../src/policy/failures/failure.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { rejection, requestContext } from './mcpHarness.ts';

/** A server without a process that answers its handshake, and of whose other requests the test decides. */
function scriptedTarget(asked: (request: { id: number; method: string }, listener: ServerLinkListener) => void): {
  target: ServerTarget;
  link: () => ServerLink;
} {
  let link: ServerLink | undefined;
  const open: ServerTarget['open'] = (_clock, listener) => {
    let end: ServerEnd | undefined;
    const finish = (given: ServerEnd): void => {
      if (end !== undefined) return;
      end = given;
      listener.ended();
    };
    const say = (message: object): void =>
      listener.output(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`));
    link = {
      pid: undefined,
      get end() {
        return end;
      },
      exit: {},
      isFull: false,
      exited: Promise.resolve(),
      start: () => Promise.resolve(listener.started(undefined)),
      write(data) {
        const message = JSON.parse(String(data)) as { id?: number; method?: string };
        queueMicrotask(() => {
          if (message.method === 'initialize') {
            const serverInfo = { name: 'scripted', version: '1' };
            say({ id: message.id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
          } else if (message.id !== undefined) asked(message as { id: number; method: string }, listener);
        });
        return end === undefined;
      },
      gather: () => () => undefined,
      pauseOutput: () => undefined,
      resumeOutput: () => undefined,
      endInput: () => undefined,
      close: () => Promise.resolve(finish({ exitCode: 0 })),
      terminate: () => Promise.resolve(finish({ fault: 'abandoned' })),
      killNow: () => finish({ fault: 'abandoned' }),
      finish,
    };
    return link;
  };
  const limits = { handshakeMs: 10_000, pingMs: 5000, maxMessageBytes: 1_000_000 };
  return {
    target: { command: 'http://127.0.0.1:9', mayGoOn: false, secrets: {}, ...limits, open },
    link: () => link as ServerLink,
  };
}

function connect(target: ServerTarget): { ready: Promise<McpConnection>; losses: FailureFacts[]; emitted: object[] } {
  const losses: FailureFacts[] = [];
  const emitted: object[] = [];
  const ready = new Promise<McpConnection>((resolve) => {
    const { logic, input } = mcpChildOf(target, {
      clock: systemClock,
      onReady: resolve,
      onLost: (facts) => losses.push(facts),
    });
    const actor = createActor(logic, { input });
    actor.on('*', (event) => emitted.push(event));
    onTestFinished(() => void actor.stop());
    actor.start();
  });
  return { ready, losses, emitted };
}

const refused: FailureFacts = {
  kind: 'rate_limit',
  message: 'HTTP 429',
  outcome: 'failed',
  status: 429,
  retryAfterMs: 5,
};

describe('a link without a process', () => {
  it('[P-4] ends one request with the facts it was told, and goes on', async () => {
    const { target } = scriptedTarget(({ id, method }, listener) => {
      if (method === 'tools/call') listener.requestFailed?.(id, refused);
      else listener.output(Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`));
    });
    const { ready, losses, emitted } = connect(target);
    const connection = await ready;
    expect(connection.pid).toBeUndefined();
    expect(await rejection(connection.callTool({ name: 'x' }, requestContext().context))).toEqual(refused);
    expect(await connection.ping()).toBe(true);
    expect(losses).toEqual([]);
    expect(emitted).toEqual([]);
  });

  it('[P-4] takes a status for a sign of life, and a request that was lost for none', async () => {
    const failures = [refused, { kind: 'transient', message: 'reset', outcome: 'unknown' } as const];
    const { target } = scriptedTarget(({ id }, listener) => {
      listener.requestFailed?.(id, failures.shift() as FailureFacts);
    });
    const connection = await connect(target).ready;
    expect(await connection.ping()).toBe(true);
    expect(await connection.ping()).toBe(false);
  });

  it('[P-4] is lost with the facts of its own end', async () => {
    const { target, link } = scriptedTarget(() => undefined);
    const { ready, losses } = connect(target);
    const connection = await ready;
    const pending = rejection(connection.callTool({ name: 'x' }, requestContext().context));
    const facts: FailureFacts = { kind: 'crash', message: 'The session is gone', outcome: 'not_started' };
    link().finish({ facts });
    expect(losses).toEqual([facts]);
    expect((await pending).message).toBe('The session is gone');
  });
});
