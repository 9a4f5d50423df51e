import type { ToolResult, Turn } from '../../src/index.ts';
import type { Fault, Stage } from './fault.ts';
import { mcpCommand } from './mcpCommand.ts';
import { pause } from './pause.ts';

/** Shortened for the tour, in ms: how long the server may be silent, and then take to answer a ping. */
const idleMs = 1000;
const pingMs = 300;
/** Time at which the fault strikes, in ms from the call. */
const strikeMs = 250;
/** Time that the calls take without a fault, in s. */
const callSeconds = 0.9;
const slowSeconds = 2;

const integration = 'mcp';
const child = 'mcp:mcp';

function declare({ gateway }: Stage): void {
  const { command, args } = mcpCommand();
  const policy = { limits: { idleMs }, restartWaitMs: 15_000 };
  // A stopped server does not notice the end of its stdin: should the tour end now, it is not waited for long.
  gateway.mcpServer(integration, { command, args, pingMs, closeMs: 500, effect: 'readOnly', policy });
}

/** The server has to be up to be struck. */
function prepare(turn: Turn): Promise<ToolResult> {
  return turn.tool(integration, 'echo', { message: 'hello' });
}

function longCall(turn: Turn, seconds: number, steps: number): Promise<ToolResult> {
  return turn.tool(integration, 'trigger-long-running-operation', { duration: seconds, steps });
}

function strike(blow: 'SIGKILL' | 'SIGSTOP') {
  return async (turn: Turn, { processes, signal }: Stage): Promise<ToolResult> => {
    const answer = longCall(turn, callSeconds, 3);
    await pause(strikeMs, signal);
    const pid = processes.pidOf(child);
    if (pid !== undefined) process.kill(pid, blow);
    return answer;
  };
}

export const mcpFaults: readonly Fault[] = [
  {
    name: 'mcp-killed',
    lane: 'mcp',
    integration,
    declare,
    prepare,
    run: strike('SIGKILL'),
    expected: {
      outcome: 'ok',
      retries: [1, 1],
      cause: 'SIGKILL',
      leastMs: callSeconds * 1000,
      records: [
        { type: 'integration/crashed' },
        { type: 'process/exited', fields: { process: child, signal: 'SIGKILL' } },
        { type: 'child/crashed', fields: { child } },
        { type: 'integration/restarted' },
      ],
    },
  },
  {
    name: 'mcp-stopped',
    lane: 'mcp',
    integration,
    declare,
    prepare,
    run: strike('SIGSTOP'),
    expected: {
      outcome: 'ok',
      retries: [1, 2],
      cause: 'No sign of life',
      leastMs: idleMs + pingMs,
      records: [
        { type: 'integration/crashed' },
        { type: 'process/exited', fields: { process: child, reason: 'hang' } },
        { type: 'child/crashed', fields: { child } },
        { type: 'integration/restarted' },
      ],
    },
  },
  {
    name: 'mcp-slow',
    lane: 'mcp',
    integration,
    declare,
    prepare,
    // Silent for a fifth of the limit at a time, and twice the limit in all.
    run: (turn) => longCall(turn, slowSeconds, 10),
    despite: `an idle limit of ${idleMs / 1000}s: progress is a sign of life`,
    expected: {
      outcome: 'ok',
      retries: [0, 0],
      leastMs: slowSeconds * 1000,
      records: [{ type: 'session/turn_ended', fields: { ok: true } }],
    },
  },
];
