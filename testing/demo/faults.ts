import { WebSocket } from 'ws';
import type { HookHandler, ToolRequest } from '../../src/index.ts';
import { cliFaults } from './cliFaults.ts';
import type { Expected, Fault } from './fault.ts';
import type { FaultName } from './faultNames.ts';
import { httpFaults } from './httpFaults.ts';
import { mcpFaults } from './mcpFaults.ts';
import { notes } from './notes.ts';
import { watchdogFault } from './watchdogFault.ts';

/** Shortened for the tour, in ms: how long a hook may take. */
const hookMs = 500;

/** A tool call with a hook before it; whatever the hook does, the call is made. */
function hookFault(name: FaultName, event: string, handler: HookHandler, expected: Expected): Fault {
  return {
    name,
    lane: 'hooks',
    integration: notes,
    declare({ gateway }) {
      const limits = { idleMs: hookMs, attemptMs: hookMs, overallMs: hookMs };
      gateway.hook(event, handler, { name, policy: { limits } });
    },
    async run(turn, { gateway }) {
      const { decision, reports } = await gateway.runHooks({ event, action: notes, session: turn.session });
      if (decision !== 'continue' || reports[0]?.failure === undefined) throw new Error('the hook did not fail');
      return turn.tool(notes, 'echo', 'after the hook');
    },
    expected,
  };
}

const hookFaults: readonly Fault[] = [
  hookFault(
    'hook-throws',
    'PreToolUse',
    () => {
      throw new Error('the hook has a bug');
    },
    {
      outcome: 'ok',
      retries: [0, 0],
      records: [
        { type: 'hook/error', fields: { hook_name: 'hook-throws', error: 'the hook has a bug' } },
        { type: 'integration/failure', fields: { integration: 'hook:hook-throws', kind: 'unknown' } },
      ],
    },
  ),
  hookFault('hook-hangs', 'UserPromptSubmit', () => new Promise(() => undefined), {
    outcome: 'ok',
    retries: [0, 0],
    leastMs: hookMs,
    records: [
      { type: 'hook/error', fields: { hook_name: 'hook-hangs' } },
      { type: 'integration/failure', fields: { integration: 'hook:hook-hangs', kind: 'timeout' } },
    ],
  }),
];

function wsFault(name: FaultName, expected: Expected): Fault {
  return {
    name,
    lane: 'ws',
    integration: name,
    declare({ gateway, ws }) {
      gateway.integration(name, {}, ({ tool }: ToolRequest, { signal }) => request(`${ws.url}/${name}`, tool, signal));
    },
    run: (turn) => turn.tool(name, 'status'),
    expected,
  };
}

/** Sends one request over a connection of its own; rejects with the code when that is closed before the answer. */
function request(url: string, tool: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const abort = (): void => socket.terminate();
    signal.addEventListener('abort', abort, { once: true });
    socket.on('open', () => socket.send(JSON.stringify({ tool })));
    socket.on('message', (data: Buffer) => {
      resolve(data.toString());
      socket.close();
    });
    socket.on('error', reject);
    socket.on('close', (code, reason) => {
      signal.removeEventListener('abort', abort);
      const why = reason.length === 0 ? '' : `: ${reason.toString()}`;
      reject(Object.assign(new Error(`gateway closed (${code})${why}`), { code }));
    });
  });
}

const wsFaults: readonly Fault[] = [
  wsFault('ws-restart', {
    outcome: 'ok',
    // The second retry is for a machine on which the restart takes longer than the first wait.
    retries: [1, 2],
    cause: 'gateway closed (1012): service restart',
    records: [{ type: 'session/turn_ended', fields: { ok: true } }],
  }),
  wsFault('ws-lost', {
    outcome: 'transient',
    retries: [2, 2],
    cause: 'gateway closed (1006)',
    waitsMs: [100, 500],
    leastMs: 600,
    records: [
      { type: 'integration/failure', fields: { kind: 'transient', retry_count: 2 } },
      { type: 'session/tool_failed', fields: { kind: 'transient', retries: 2 } },
    ],
  }),
];

/** All faults, in the order of the table. */
export const faults: readonly Fault[] = [
  ...mcpFaults,
  ...wsFaults,
  ...httpFaults,
  ...cliFaults,
  ...hookFaults,
  watchdogFault,
];
