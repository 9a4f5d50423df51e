import { read, readInteger, readMessage } from './errorChain.ts';
import type { Finding } from './finding.ts';

/** The side that made a JSON-RPC error: our own client, or the other side. The same code means other things from each. */
export type ErrorSource = 'local' | 'peer';

/** Tells what a JSON-RPC error means, by its code and the side that made it. */
export function byRpcCode(error: unknown, source: ErrorSource | undefined): Finding | undefined {
  const code = readInteger(error, 'code');
  if (code === undefined || code > -32_000 || code < -32_768) return undefined;
  return { ...meaning(code, readMessage(error), error, source), code };
}

function meaning(code: number, message: string, error: unknown, source: ErrorSource | undefined): Finding {
  const lostSession = source !== 'local' && /\bsession not found\b/i.test(message);
  switch (code) {
    case -32_001:
      return lostSession ? sessionLost : timeoutOrOverload(message, error, source);
    case -32_600:
      return lostSession ? sessionLost : { kind: 'permanent', outcome: 'failed' };
    case -32_601:
    case -32_602:
    // Something to be done by a person at a URL first.
    case -32_042:
      return { kind: 'permanent', outcome: 'failed' };
    case -32_002:
      return /not initialized/i.test(message)
        ? { kind: 'protocol', outcome: 'failed' }
        : { kind: 'permanent', outcome: 'failed', reason: 'not_found' };
    case -32_603:
      return { kind: 'transient', outcome: 'unknown' };
    case -32_700:
      return { kind: 'protocol', outcome: 'unknown' };
    case -32_020:
    case -32_021:
    case -32_022:
      return { kind: 'protocol', outcome: 'failed' };
    case -32_000:
      return serverError(message, source);
    default:
      return { kind: 'unknown', outcome: 'unknown' };
  }
}

/** The other side forgot the connection: it refused the request, and a new handshake is due. */
const sessionLost: Finding = { kind: 'crash', outcome: 'failed', reason: 'connection_lost' };

function timeoutOrOverload(message: string, error: unknown, source: ErrorSource | undefined): Finding {
  if (source !== 'local' && /overloaded/i.test(message)) return { kind: 'overloaded', outcome: 'failed' };
  // A peer that sends this code did answer: whatever it means by it, our limit did not expire.
  if (source === 'peer') return { kind: 'unknown', outcome: 'unknown', settled: true };
  const data = read(error, 'data');
  const limit = readInteger(data, 'timeout') ?? readInteger(data, 'maxTotalTimeout');
  if (limit !== undefined || /timed out|maximum total timeout/i.test(message)) {
    return { kind: 'timeout', outcome: 'unknown' };
  }
  // The MCP client ends an aborted request with this code too, and the reason of the signal as its text.
  if (source === 'local') return { kind: 'cancelled', outcome: 'cancelled' };
  return { kind: 'unknown', outcome: 'unknown' };
}

function serverError(message: string, source: ErrorSource | undefined): Finding {
  if (/not initialized/i.test(message)) return { kind: 'protocol', outcome: 'failed' };
  if (source !== 'peer' && /connection closed/i.test(message)) {
    return { kind: 'crash', outcome: 'unknown', reason: 'connection_lost' };
  }
  return { kind: 'unknown', outcome: 'unknown' };
}
