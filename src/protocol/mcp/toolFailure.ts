import type { FailureFacts, FailureKind } from '../../policy/failures/failure.ts';
import { rpcErrors } from '../jsonRpc.ts';
import { fieldsOf, type McpAnswer } from './message.ts';

/** Tools may answer with megabytes, in characters. */
export const longestMessage = 2000;
const urlElicitationRequired = -32_042;
const overloadText = /overload|too many|rate.?limit|busy|try again/i;

/** Word of a result on its tool. */
interface ToolWord {
  readonly isError?: unknown;
  readonly content?: unknown;
}

/** Tells what a tool's own word that it failed means; undefined when it did not fail. As lenient as what passes: nobody has checked the form. */
export function toolErrorFacts({ isError, content }: ToolWord): FailureFacts | undefined {
  if (isError !== true) return undefined;
  const message = bounded(textOf(content).trim());
  return {
    kind: 'permanent',
    reason: 'tool_error',
    message: message === '' ? 'The tool failed and did not say why' : message,
    outcome: 'failed',
  };
}

/** Tells what an answer to the call of a tool says of its failure; undefined when it says of none. */
export function failureIn({ result, error }: McpAnswer): FailureFacts | undefined {
  if (error === undefined) return result === undefined ? undefined : toolErrorFacts(result);
  const { code, message } = error;
  const text = bounded(typeof message === 'string' ? message : '');
  return { ...rpcErrorFacts(code, text), message: text };
}

/** Tells what the other side's own words mean: it is alive, and said no. */
export function rpcErrorFacts(code: unknown, message: string): Pick<FailureFacts, 'kind' | 'reason' | 'outcome'> {
  switch (code) {
    case rpcErrors.methodNotFound:
    case rpcErrors.invalidParams:
    case rpcErrors.invalidRequest:
    case urlElicitationRequired:
      return failed('permanent');
    case -32_002:
      return failed('permanent', 'not_found');
    case rpcErrors.parse:
    // A client of another era: -32020 to -32022 came with the stateless protocol.
    case -32_020:
    case -32_021:
    case -32_022:
      return failed('protocol');
    default:
      return overloadText.test(message) ? failed('overloaded') : { kind: 'unknown', outcome: 'unknown' };
  }
}

/** A text of another side, cut to 2,000 characters. */
export function bounded(text: string): string {
  return text.length > longestMessage ? `${text.slice(0, longestMessage - 3)}...` : text;
}

function failed(kind: FailureKind, reason?: 'not_found'): Pick<FailureFacts, 'kind' | 'reason' | 'outcome'> {
  return { kind, reason, outcome: 'failed' };
}

/** The texts of a result, a line each; no more of them than is kept. */
function textOf(content: unknown): string {
  let all = '';
  for (const part of Array.isArray(content) ? (content as readonly unknown[]) : []) {
    const { type, text } = fieldsOf(part);
    if (type !== 'text' || typeof text !== 'string') continue;
    // Leading blanks are not of the message; without them it cannot grow unseen.
    all = all === '' ? text.trimStart().slice(0, 2 * longestMessage) : `${all}\n${text.slice(0, longestMessage)}`;
    if (all.length > longestMessage) break;
  }
  return all;
}
