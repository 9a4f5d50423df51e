import type { CallToolResult, McpError } from '@modelcontextprotocol/sdk/types.js';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import { bounded, rpcErrorFacts, toolErrorFacts } from '../protocol/mcp/toolFailure.ts';
import { messageOf } from '../supervisor/exit.ts';

/** What this side knows of a request that failed; the SDK's errors alone do not tell who made them. */
export interface OwnSide {
  /** The request was given up by our signal. */
  readonly aborted: boolean;
  /** Why the connection ended, when it has. */
  readonly lost?: FailureFacts | undefined;
}

/** Stands in an error for an answer that was not of the protocol: the SDK would drop it, and its request would hang. */
export class MalformedAnswer {}

/** The longest limit the SDK's timers take, in ms; the limits of a call are kept by its call path. */
export const unlimitedMs = 2 ** 31 - 1;

/** Codes of the SDK's own. */
const sdkErrors = { connectionClosed: -32_000, requestTimeout: -32_001 } as const;

/**
 * What an error of a request to an MCP server means. Local and remote errors share codes: with the SDK's limits out of the
 * way, -32001 is the other side's unless we aborted, and -32000 is the other side's as long as the connection stands.
 */
export function callFacts(error: unknown, { aborted, lost }: OwnSide): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  if (aborted) return { kind: 'cancelled', message: 'Cancelled by the caller', outcome: 'cancelled', cause: error };
  if (isNotConnected(error)) return notSent(lost);
  if (!isMcpError(error) || error.data instanceof MalformedAnswer) return malformed(error);
  if (lost !== undefined && error.code === sdkErrors.connectionClosed) return { ...lost, outcome: 'unknown' };
  if (isOwnLimit(error)) {
    return { kind: 'timeout', reason: 'attempt_timeout', message: plain(error), outcome: 'unknown', code: error.code };
  }
  return { ...rpcErrorFacts(error.code, error.message), message: plain(error), code: error.code, cause: error };
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

/** Known by its name: the class is loaded with the first connection, and this file before. */
export function isMcpError(error: unknown): error is McpError {
  return error instanceof Error && error.name === 'McpError';
}

function isNotConnected(error: unknown): boolean {
  return error instanceof Error && !isMcpError(error) && error.message === 'Not connected';
}

/** A server that is itself a client may hand on a timeout of its own in the same shape, but not with this limit. */
function isOwnLimit({ code, data }: McpError): boolean {
  if (code !== sdkErrors.requestTimeout || typeof data !== 'object' || data === null) return false;
  return 'timeout' in data && data.timeout === unlimitedMs;
}

/** The text of anything thrown on one bounded line, without the prefix the SDK puts before its errors. */
export function plain(error: unknown): string {
  const text = messageOf(error);
  return bounded(text.replace(/^(MCP error -?\d+: )+/, '').replaceAll(/\s+/g, ' '));
}
