import type { Failure } from '../../src/policy/failure.ts';
import { risks } from '../../src/policy/syntheticResult.ts';
import type { McpAnswer } from '../../src/protocol/mcp/message.ts';
import { answerOfFailure, answerWith, withNote } from '../../src/protocol/mcp/syntheticAnswer.ts';
import type { ClientCall } from './clientCall.ts';
import type { Line } from './outlet.ts';

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

/** The answer to a request that was found out, or that its server gave to another one, as one line. @param how - it is known, in words. */
export function foundLine({ request, modern }: ClientCall, answer: McpAnswer, how: string | undefined): string {
  return answerWith({ id: request.id, modern }, answer, how);
}

/**
 * Writes what the client reads of an error that its server answered: where an earlier attempt of the call lost its answer, an error of the last one says
 * nothing of that, and would be taken for the whole truth.
 */
export function withEarlierAttempts({ request, row, tool }: ClientCall, line: Line, answer: McpAnswer): Line {
  if (tool === undefined || row === undefined || row.attempts < 2 || row.progress.effect !== 'unknown') return line;
  const effect = row.expectedEffect ?? 'mutating';
  if (effect === 'readOnly') return line;
  const note = `An earlier attempt of this call lost its answer: outcome unknown; ${risks[effect]}.`;
  return withNote(request.id, answer, note, { outcome: 'unknown', attempts: row.attempts });
}
