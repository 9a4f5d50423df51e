import { type AgentSign, recordIn } from './agentReport.ts';

/** Messages of the system that tell how Claude stands, and not that it gets on. */
const standing: ReadonlySet<unknown> = new Set([
  'control_request_progress',
  'session_state_changed',
  'session_writes_lost',
  'worker_shutting_down',
]);

/** Tells whether Claude says by a message that its transcript is not whole any more; settings and statistics that it keeps may be lost alone. */
export function losesSession({ type, subtype, lost }: Readonly<Record<string, unknown>>): boolean {
  return (
    type === 'system' && subtype === 'session_writes_lost' && !(Array.isArray(lost) && !lost.includes('transcript'))
  );
}

/**
 * Tells what a message of Claude says of its liveness. A stalled upstream goes on sending pings, and empty deltas move nothing: what it says has to grow.
 */
export function claudeSign(message: Readonly<Record<string, unknown>>): AgentSign {
  switch (message['type']) {
    case 'stream_event':
      return streamed(recordIn(message['event'])) ? 'progress' : 'traffic';
    case 'keep_alive':
      return 'traffic';
    case 'system':
      if (message['subtype'] === 'api_retry') return 'retry';
      return standing.has(message['subtype']) ? 'traffic' : 'progress';
    default:
      return 'progress';
  }
}

function streamed(event: Readonly<Record<string, unknown>> | undefined): boolean {
  if (event === undefined || event['type'] === 'ping') return false;
  if (event['type'] !== 'content_block_delta') return true;
  const { type: _type, ...delta } = recordIn(event['delta']) ?? {};
  return Object.values(delta).some((value) => value !== '' && value !== null && value !== undefined);
}
