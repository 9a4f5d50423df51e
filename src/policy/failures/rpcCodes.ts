import { read, readInteger, readMessage } from './errorChain.ts';
import { byNumber, type Finding, means, type Row } from './finding.ts';

/** The side that made a JSON-RPC error: our own client, or the other side. The same code means other things from each. */
export type ErrorSource = 'local' | 'peer';

const codes: readonly Row<readonly number[]>[] = [
  // The last one: something to be done by a person at a URL first.
  [[-32_600, -32_601, -32_602, -32_042], means.permanent],
  [[-32_603], means.broken],
  [[-32_700], means.protocol],
  [[-32_020, -32_021, -32_022], means.unspoken],
];

/** Tells what a JSON-RPC error means, by its code and the side that made it. */
export function byRpcCode(error: unknown, source: ErrorSource | undefined): Finding | undefined {
  const code = readInteger(error, 'code');
  if (code === undefined || code > -32_000 || code < -32_768) return undefined;
  return { ...(meaning(code, readMessage(error), error, source) ?? byNumber(codes, code) ?? means.unknown), code };
}

function meaning(code: number, message: string, error: unknown, source: ErrorSource | undefined): Finding | undefined {
  const isRefused = code === -32_001 || code === -32_600;
  if (isRefused && source !== 'local' && /\bsession not found\b/i.test(message)) return sessionLost;
  if (code === -32_000) return serverError(message, source);
  if (code === -32_001) return timeoutOrOverload(message, error, source);
  if (code === -32_002) return /not initialized/i.test(message) ? means.unspoken : means.notFound;
  return undefined;
}

/** The other side forgot the connection: it refused the request, and a new handshake is due. */
const sessionLost: Finding = { kind: 'crash', outcome: 'failed', reason: 'connection_lost' };

function timeoutOrOverload(message: string, error: unknown, source: ErrorSource | undefined): Finding {
  if (source !== 'local' && /overloaded/i.test(message)) return means.overloaded;
  // A peer that sends this code did answer: whatever it means by it, our limit did not expire.
  if (source === 'peer') return { ...means.unknown, settled: true };
  const data = read(error, 'data');
  const limit = readInteger(data, 'timeout') ?? readInteger(data, 'maxTotalTimeout');
  if (limit !== undefined || /timed out|maximum total timeout/i.test(message)) {
    return means.timeout;
  }
  // The MCP client ends an aborted request with this code too, and the reason of the signal as its text.
  if (source === 'local') return means.cancelled;
  return means.unknown;
}

function serverError(message: string, source: ErrorSource | undefined): Finding {
  if (/not initialized/i.test(message)) return means.unspoken;
  if (source !== 'peer' && /connection closed/i.test(message)) {
    return { kind: 'crash', outcome: 'unknown', reason: 'connection_lost' };
  }
  return means.unknown;
}
