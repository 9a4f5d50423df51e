import { WebSocket } from 'ws';
import type { ToolRequest } from '../index.ts';
import type { Expected, Fault } from './fault.ts';
import type { FaultName } from './faultNames.ts';

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

export const wsFaults: readonly Fault[] = [
  wsFault('ws-restart', {
    outcome: 'ok',
    // The second retry is for a machine on which the restart takes longer than the first wait.
    retries: [1, 2],
    cause: 'gateway closed (1012): service restart',
    mostMs: 15_000,
    records: [{ type: 'session/turn_ended', fields: { ok: true } }],
  }),
  wsFault('ws-lost', {
    outcome: 'transient',
    retries: [2, 2],
    cause: 'gateway closed (1006)',
    waitsMs: [100, 500],
    leastMs: 600,
    mostMs: 15_000,
    records: [
      { type: 'integration/failure', fields: { kind: 'transient', retry_count: 2 } },
      { type: 'session/tool_failed', fields: { kind: 'transient', retries: 2 } },
    ],
  }),
];
