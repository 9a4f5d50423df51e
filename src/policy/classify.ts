import { errorTexts } from './errorTexts.ts';
import {
  AttemptError,
  type EffectOutcome,
  type FailureFacts,
  type FailureKind,
  type FailureReason,
  IntegrationError,
} from './failure.ts';
import { type HeaderSource, headerHint, type RetryHint, textHint } from './hints.ts';

export interface ClassifyContext {
  /** Wall time in ms, for hints that are dates. */
  readonly wallNow: number;
  /** Whether the call had reached the other side. @defaultValue true */
  readonly dispatched?: boolean | undefined;
  /** A 429 hint above this is `quota`, in ms. @defaultValue 60000 */
  readonly maxPauseMs?: number | undefined;
  /** Texts of one's own; they add to the built-in ones, of which the permanent ones win. */
  readonly patterns?: readonly { readonly pattern: RegExp | string; readonly kind: FailureKind }[] | undefined;
}

/** How far causes and aggregates are followed; both can be cyclic. */
const deepest = 8;
const longestMessage = 500;

/** What one error, of the chain that was thrown, says by its structure. */
interface Finding {
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  readonly reason?: FailureReason | undefined;
  readonly status?: number | undefined;
  readonly code?: string | number | undefined;
  readonly hint?: RetryHint | undefined;
}

/**
 * Finds out what kind of failure was thrown: structured facts first (HTTP status, errno, JSON-RPC and close codes), along causes
 * and aggregates, then the text of its messages. Never throws, whatever it is given.
 */
export function classify(error: unknown, context: ClassifyContext): FailureFacts {
  if (error instanceof AttemptError) return withCause(error.facts, error);
  if (error instanceof IntegrationError) return withCause(error.failure, error);
  const chain = causes(error);
  for (const each of chain) if (each instanceof AttemptError) return withCause(each.facts, each);

  const message = messageOf(chain);
  const found = settled(structured(chain, context), message, context) ?? { kind: 'unknown', outcome: 'unknown' };
  const hint = { ...found.hint, ...defined(textual429(found, message, context)) };
  const quota = found.kind === 'rate_limit' && (hint.retryAfterMs ?? 0) > (context.maxPauseMs ?? 60_000);
  return {
    kind: quota ? 'quota' : found.kind,
    reason: found.reason,
    message: message === '' ? 'An error without a message' : message,
    outcome: context.dispatched === false ? 'not_started' : found.outcome,
    retryAfterMs: hint.retryAfterMs,
    shouldRetry: hint.shouldRetry,
    status: found.status,
    code: found.code,
    cause: error,
  };
}

function withCause(facts: FailureFacts, error: Error): FailureFacts {
  return facts.cause === undefined ? { ...facts, cause: error } : facts;
}

/** A structured finding stands, unless the text knows better what lies behind its status. */
function settled(found: Finding | undefined, message: string, context: ClassifyContext): Finding | undefined {
  const said = errorTexts.find(({ pattern }) => pattern.test(message));
  const configured = context.patterns?.find(({ pattern }) =>
    typeof pattern === 'string'
      ? message.includes(pattern)
      : new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(message),
  );
  if (found === undefined) {
    if (said?.kind === 'permanent' || said?.kind === 'auth' || configured === undefined) return said;
    return { kind: configured.kind, outcome: 'unknown' };
  }
  // 400 hides an unpaired history and a full context; 429 hides an exhausted quota; 400 and 403 hide billing.
  const sharper = said !== undefined && (said.reason !== undefined || said.kind === 'quota');
  const vague = found.kind === 'permanent' || found.kind === 'rate_limit' || found.kind === 'auth';
  return sharper && vague ? { ...found, kind: said.kind, reason: said.reason } : found;
}

function textual429(found: Finding, message: string, context: ClassifyContext): RetryHint {
  const throttled = found.kind === 'rate_limit' || found.kind === 'quota' || found.kind === 'overloaded';
  return throttled && found.hint?.retryAfterMs === undefined ? textHint(message, context.wallNow) : {};
}

function defined(hint: RetryHint): RetryHint {
  return Object.fromEntries(Object.entries(hint).filter(([, value]) => value !== undefined));
}

function structured(chain: readonly unknown[], context: ClassifyContext): Finding | undefined {
  for (const each of chain) {
    const found = byStatus(each, context) ?? byName(each) ?? byCode(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function byStatus(error: unknown, context: ClassifyContext): Finding | undefined {
  const response = read(error, 'response');
  const status = number(read(error, 'status')) ?? number(read(error, 'statusCode')) ?? number(read(response, 'status'));
  if (status === undefined || status < 400 || status > 599) return undefined;
  const headers = read(error, 'headers') ?? read(response, 'headers');
  const hint =
    typeof headers === 'object' && headers !== null ? headerHint(headers as HeaderSource, context.wallNow) : undefined;
  return { ...statusKind(status), status, hint, code: codeOf(error) };
}

function statusKind(status: number): Pick<Finding, 'kind' | 'outcome'> {
  if (status === 401 || status === 403) return { kind: 'auth', outcome: 'failed' };
  if (status === 402) return { kind: 'quota', outcome: 'failed' };
  if (status === 429) return { kind: 'rate_limit', outcome: 'failed' };
  if (status === 529) return { kind: 'overloaded', outcome: 'failed' };
  if (status === 408) return { kind: 'timeout', outcome: 'unknown' };
  if (status === 425 || status === 503) return { kind: 'transient', outcome: 'failed' };
  if (status === 500 || status === 502 || status === 504) return { kind: 'transient', outcome: 'unknown' };
  return status < 500 || status === 501
    ? { kind: 'permanent', outcome: 'failed' }
    : { kind: 'unknown', outcome: 'unknown' };
}

function byName(error: unknown): Finding | undefined {
  const name = read(error, 'name');
  if (name === 'TimeoutError') return { kind: 'timeout', outcome: 'unknown' };
  if (name === 'AbortError') return { kind: 'cancelled', outcome: 'cancelled' };
  return undefined;
}

const neverReached = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
];
const broke = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'ECONNABORTED'];
const tooSlow = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ESOCKETTIMEDOUT'];
const noRoom = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'];
const cannotStart = ['ENOENT', 'EACCES', 'E2BIG', 'ENOEXEC', 'ENOTDIR', 'ERR_INVALID_ARG_VALUE'];

function byCode(error: unknown): Finding | undefined {
  const code = codeOf(error);
  if (typeof code === 'number') return byNumber(code, error);
  if (code === undefined) return undefined;
  if (neverReached.includes(code)) return { kind: 'transient', outcome: 'not_started', code };
  if (broke.includes(code)) return { kind: 'transient', outcome: 'unknown', code };
  if (tooSlow.includes(code)) return { kind: 'timeout', outcome: 'unknown', code };
  if (/^CERT_|^UNABLE_TO_VERIFY|SELF_SIGNED_CERT/.test(code))
    return { kind: 'permanent', outcome: 'not_started', code };
  const syscall = read(error, 'syscall');
  const spawning = typeof syscall === 'string' && syscall.startsWith('spawn');
  if (spawning && noRoom.includes(code)) return { kind: 'transient', outcome: 'not_started', code };
  if (spawning && cannotStart.includes(code)) return { kind: 'spawn', outcome: 'not_started', code };
  return undefined;
}

/** WebSocket close codes and JSON-RPC codes; both are numbers in `code`, and share no range. */
function byNumber(code: number, error: unknown): Finding | undefined {
  if ([1001, 1006, 1011, 1012, 1013].includes(code)) return { kind: 'transient', outcome: 'unknown', code };
  if (code === 1008) return { kind: 'auth', outcome: 'failed', code };
  if (code === 1009) return { kind: 'permanent', outcome: 'failed', reason: 'message_too_large', code };
  if ([1002, 1003, 1007].includes(code)) return { kind: 'protocol', outcome: 'unknown', code };
  if ([-32600, -32601, -32602].includes(code)) return { kind: 'permanent', outcome: 'failed', code };
  if (code === -32700) return { kind: 'protocol', outcome: 'unknown', code };
  if (code === -32001 && /overloaded/i.test(String(read(error, 'message'))))
    return { kind: 'overloaded', outcome: 'failed', code };
  return undefined;
}

/** The error, its causes, and what its aggregates hold, nearest first. */
function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const visit = (each: unknown, depth: number): void => {
    if (each === undefined || each === null || depth > deepest || chain.includes(each) || chain.length >= 32) return;
    chain.push(each);
    visit(read(each, 'cause'), depth + 1);
    const errors = read(each, 'errors');
    if (Array.isArray(errors)) for (const inner of errors.slice(0, 8)) visit(inner, depth + 1);
  };
  visit(error, 0);
  return chain;
}

/** One line from the chain: its first message, and the causes it does not name itself. */
function messageOf(chain: readonly unknown[]): string {
  let message = '';
  for (const each of chain) {
    const own = oneLine(typeof each === 'object' ? read(each, 'message') : each);
    if (own !== '' && !message.includes(own)) message = message === '' ? own : `${message}: ${own}`;
    if (message.length >= longestMessage) break;
  }
  return message.slice(0, longestMessage);
}

function oneLine(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  return String(value)
    .slice(0, 4 * longestMessage)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function codeOf(error: unknown): string | number | undefined {
  const code = read(error, 'code') ?? read(error, 'closeCode');
  return typeof code === 'string' || typeof code === 'number' ? code : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** Getters of foreign errors may throw. */
function read(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}
