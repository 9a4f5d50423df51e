import type { Failure } from '../policy/failure.ts';
import { answerOfFailure } from '../protocol/mcp/syntheticAnswer.ts';
import type { ClientCall } from './clientCall.ts';

/**
 * The answer of ours to a request that its server did not answer, as one line.
 * @param stderr - the last of what the server said; left out where it has nothing to do with the failure.
 */
export function refusalOf(call: ClientCall, failure: Failure, elapsedMs: number, stderr: string): string {
  const { request, modern, asTask } = call;
  const { id, method } = request;
  const told = isHarmless(call) && failure.outcome === 'unknown' ? { ...failure, outcome: 'failed' as const } : failure;
  const words = isOfServer(failure) || method === 'initialize' ? stderr : '';
  return answerOfFailure({ id, method, modern, asTask }, told, elapsedMs, words);
}

/** Whatever became of it, to ask again does no harm. */
function isHarmless({ tool, effect }: ClientCall): boolean {
  return tool === undefined && (effect === 'readOnly' || effect === 'idempotent');
}

function isOfServer({ kind }: Failure): boolean {
  return kind !== 'timeout' && kind !== 'too_many_requests' && kind !== 'cancelled';
}
