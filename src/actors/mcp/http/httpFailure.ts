import { classify } from '../../../policy/failures/classify.ts';
import type { Clock } from '../../../policy/clock.ts';
import { AttemptError, type FailureFacts, type FailureKind, failureKinds } from '../../../policy/failures/failure.ts';
import { fieldsOf, readMessage } from '../../../protocol/mcp/message.ts';
import { bounded } from '../../../protocol/mcp/toolFailure.ts';
import { readBody, type HttpAnswer } from '../../../streams/readBody.ts';

/** Means that are needed to say why a request failed. */
export interface FailureScope {
  readonly clock: Clock;
  readonly hide: (text: string) => string;
}

/** Most of the body of a refusal, in bytes, and the time it is waited for, in ms. */
const mostRefusalBytes = 65_536;
const refusalMs = 1000;

/** The body of an answer that is none to the request, as far as it is of use. Never rejects. */
export async function refusalText(response: HttpAnswer, clock: Clock, signal: AbortSignal): Promise<string> {
  const limit = { clock, ms: refusalMs };
  const { bytes } = await readBody(response, { maxBytes: mostRefusalBytes, signal, limit });
  return new TextDecoder().decode(bytes);
}

/** Gives the meaning of a status that is no success. @param text - the body. */
export function statusFacts(response: HttpAnswer, text: string, { clock, hide }: FailureScope): FailureFacts {
  const { status, headers } = response;
  const said = hide(wordsOf(text));
  const error = Object.assign(new Error(said === '' ? `HTTP ${status}` : `HTTP ${status}: ${said}`), {
    status,
    headers: { get: (name: string) => headers.get(name) },
  });
  // From which wait on it is a quota is for the policy of the integration to say.
  const facts = classify(error, { wallNow: clock.wallNow(), maxPauseMs: Number.POSITIVE_INFINITY });
  return {
    ...facts,
    ...(isSilentOnEffect(response, text) && { kind: lostKind(status, facts), outcome: 'unknown' }),
    cause: undefined,
  };
}

/** Server errors that say that the request was not carried out: not implemented, no room, an HTTP version, a login of the network, overloaded. */
const refusing: ReadonlySet<number> = new Set([501, 503, 505, 511, 529]);

/**
 * Tells whether a status says nothing of whether the tool ran: a server that broke over it, a gateway that gave up waiting, a conflict with itself. 503 is
 * also the word of gateways for a server that broke off or took too long; of a refusal it says when to come again, or the server itself is heard.
 */
function isSilentOnEffect({ status, headers }: HttpAnswer, text: string): boolean {
  if (status === 503) {
    const isAsked = headers.has('retry-after') || headers.has('retry-after-ms');
    return !isAsked && !headers.has('mcp-session-id') && !isRpcError(text);
  }
  return status === 408 || status === 409 || (status >= 500 && !refusing.has(status));
}

function isRpcError(text: string): boolean {
  const message = readMessage(text);
  return message.kind === 'answer' && message.error !== undefined;
}

/** An answer was lost with it, as with a connection that broke; what the body says of quotas and the like stays. A conflict is one of the moment. */
function lostKind(status: number, { kind }: FailureFacts): FailureKind {
  if (status === 409 && kind === 'permanent') return 'crash';
  if (!failureKinds[kind].retried && kind !== 'unknown') return kind;
  return status === 408 || status === 504 ? 'timeout' : 'crash';
}

/**
 * Gives the meaning of a request that broke off. Before the connection stood nothing was sent. After that the server may have done what it was asked, as when
 * a process died with it.
 */
export function brokenFacts(error: unknown, { clock, hide }: FailureScope): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  const facts = classify(error, { wallNow: clock.wallNow() });
  const message = hide(facts.message);
  const isLost = facts.outcome === 'unknown' && (facts.kind === 'transient' || facts.kind === 'unknown');
  if (!isLost) return { ...facts, message };
  return { ...facts, kind: 'crash', reason: 'connection_lost', message: `The connection broke: ${message}` };
}

/** The answer was to come on a stream that is no more. */
export function lostAnswer(why: string): FailureFacts {
  const message = `The answer was lost: ${why}`;
  return { kind: 'crash', reason: 'connection_lost', message, outcome: 'unknown' };
}

/** Gives the facts of no answer. */
export function noAnswer(message: string, status?: number): FailureFacts {
  return { kind: 'protocol', message, outcome: 'unknown', status };
}

export function tooLarge(maxBytes: number): FailureFacts {
  const message = `The answer is longer than ${maxBytes} bytes`;
  return { kind: 'protocol', reason: 'message_too_large', message, outcome: 'unknown' };
}

/** Reads the words of a refusal for people: the message in its JSON, or its text without markup. */
function wordsOf(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return bounded(
      text
        .replaceAll(/<(style|script)[\s\S]*?(?:<\/\1>|$)|<[^<>]*>/gi, ' ')
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim()
        .slice(0, 300),
    );
  }
  const { error, message, error_description: description } = fieldsOf(value);
  const found = [fieldsOf(error)['message'], description, message, error].find((each) => typeof each === 'string');
  return typeof found === 'string' ? bounded(found.replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, 300)) : '';
}

/** Facts of an answer that no MCP server gives to a handshake. */
interface Strange {
  readonly status: number;
  /** Text of the answer, in a few words. */
  readonly said: string;
}

/** Longer parts of a path may be keys: some services have them there. */
const longestPart = 16;

/** Statuses with which a server says that there is nothing at an address, or nothing that takes a POST. */
const nothingThere: ReadonlySet<number> = new Set([404, 405]);

/** Tells whether a status, or the type of its body, is that of an address with no MCP server at it. */
export function isNoServer(status: number, contentType: string | null): boolean {
  return nothingThere.has(status) || (status < 300 && /^text\/html\b/i.test(contentType ?? ''));
}

/** The address is wrong: that does not mend itself, so a start that finds it so is not tried again by itself. */
export function wrongAddress(url: string, { status, said }: Strange): FailureFacts {
  const message = `${pathShown(url)} answered ${said}; check that the address is right`;
  return { kind: 'permanent', reason: 'not_found', message, outcome: 'not_started', status };
}

/** An address without what could be a secret in it. */
function pathShown(url: string): string {
  const { origin, pathname } = new URL(url);
  const parts = pathname.split('/').map((part) => (part.length > longestPart ? '...' : part));
  return `${origin}${parts.join('/')}`;
}
