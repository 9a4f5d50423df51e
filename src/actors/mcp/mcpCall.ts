import type { CallToolResult, ProtocolError, SdkErrorCode } from '@modelcontextprotocol/client';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import { bounded, rpcErrorFacts, toolErrorFacts } from '../../protocol/mcp/toolFailure.ts';
import { messageOf } from '../../policy/failures/thrown.ts';

/** Facts that this side knows of a request that failed, beyond the error of the SDK. */
interface OwnSide {
  /** The request was given up by our signal. */
  readonly aborted: boolean;
  readonly lost?: FailureFacts | undefined;
}

/** Stands in an error for an answer that was not of the protocol: the SDK would drop it, and its request would hang. */
export class MalformedAnswer {}

/** Stands in an error for a request that got no answer while its connection goes on. */
export class LostRequest {
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts) {
    this.facts = facts;
  }
}

/** Why a request got no answer; undefined when that is not what the error says. */
export function lostRequestIn(error: unknown): FailureFacts | undefined {
  return isServerError(error) && error.data instanceof LostRequest ? error.data.facts : undefined;
}

/** The longest limit the SDK's timers take, in ms; the limits of a call are kept by its call path. */
export const unlimitedMs = 2 ** 31 - 1;

/** Codes of errors that the SDK makes itself. Those of the server are numbers. */
const sdkCodes = {
  notConnected: 'NOT_CONNECTED',
  connectionClosed: 'CONNECTION_CLOSED',
  requestTimeout: 'REQUEST_TIMEOUT',
  otherEra: 'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION',
} as const satisfies Readonly<Record<string, `${SdkErrorCode}`>>;

/** Gives the meaning of an error of a request to an MCP server. */
export function callFacts(error: unknown, { aborted, lost }: OwnSide): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  if (aborted) return { kind: 'cancelled', message: 'Cancelled by the caller', outcome: 'cancelled', cause: error };
  if (isServerError(error)) return answered(error);
  switch (codeOf(error)) {
    case sdkCodes.notConnected:
      return notSent(lost);
    case sdkCodes.connectionClosed:
      return { ...(lost ?? notSent(undefined)), outcome: 'unknown' };
    case sdkCodes.requestTimeout:
      return { kind: 'timeout', reason: 'attempt_timeout', message: plain(error), outcome: 'unknown' };
    case sdkCodes.otherEra:
      return { kind: 'permanent', message: plain(error), outcome: 'not_started', cause: error };
    default:
      return isNotConnected(error) ? notSent(lost) : malformed(error);
  }
}

/**
 * The result of a tool call that went well.
 * @throws {@link AttemptError} of reason `tool_error` when the tool says that it failed; the message is its text.
 */
export function toolResult(result: CallToolResult): CallToolResult {
  const facts = toolErrorFacts(result);
  if (facts === undefined) return result;
  throw new AttemptError(facts);
}

function notSent(lost: FailureFacts | undefined): FailureFacts {
  const message = lost?.message ?? 'The server is not connected';
  return {
    kind: 'crash',
    reason: lost?.reason ?? 'connection_lost',
    message,
    outcome: 'not_started',
    code: lost?.code,
  };
}

/** The answer came, and does not have the form of one. */
function malformed(error: unknown): FailureFacts {
  return { kind: 'protocol', message: `The answer is malformed: ${plain(error)}`, outcome: 'unknown', cause: error };
}

/** The server's own word that it failed. */
function answered(error: ProtocolError): FailureFacts {
  if (error.data instanceof MalformedAnswer) return malformed(error);
  if (error.data instanceof LostRequest) return error.data.facts;
  return { ...rpcErrorFacts(error.code, error.message), message: plain(error), code: error.code, cause: error };
}

/** Known by its code, which is a number: the class is loaded with the first connection, and this file before. */
export function isServerError(error: unknown): error is ProtocolError {
  return typeof codeOf(error) === 'number';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The SDK, and our transport, say so without a code when there is no connection to write to. */
function isNotConnected(error: unknown): boolean {
  return error instanceof Error && error.message === 'Not connected';
}

/** The text of anything thrown on one bounded line, without the prefix that servers of the SDK put before their errors. */
export function plain(error: unknown): string {
  const text = messageOf(error);
  return bounded(text.replace(/^(MCP error -?\d+: )+/, '').replaceAll(/\s+/g, ' '));
}
