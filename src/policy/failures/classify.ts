import { errorChain, longestMessage, messageOf, textOf } from './errorChain.ts';
import { textMeaning } from './errorTexts.ts';
import { evidenceOf } from './evidence.ts';
import { AttemptError, type EffectOutcome, type FailureFacts, type FailureKind, IntegrationError } from './failure.ts';
import { type Finding, means } from './finding.ts';
import type { RetryHint } from './hints.ts';
import type { ErrorSource } from './rpcCodes.ts';
import { plainSpeech } from './plainSpeech.ts';
import { isRefusal } from './refusalForm.ts';
import { keyOfError, knownFacts } from './saidBefore.ts';
import { sharpenedByWords } from './sharpened.ts';
import { textHint } from './textHints.ts';

/** Test of whether a text is meant: a regular expression, or anything that answers like one. */
export interface TextTest {
  test(text: string): boolean;
}

/** A text of one's own and the kind it stands for. */
export interface ErrorPattern {
  /**
   * Text in any case, or a regular expression; looked for in error channels only, of which it gets the first and the last 4,000 characters.
   * How long a regular expression of one's own takes for them is one's own care.
   */
  readonly pattern: TextTest | string;
  readonly kind: FailureKind;
}

/** Facts that classification needs besides the error. */
export interface ClassifyContext {
  /** Wall time in ms, for hints that are dates. */
  readonly wallNow: number;
  /** True where the call had reached the other side. @defaultValue true */
  readonly dispatched?: boolean | undefined;
  /** The side that made a JSON-RPC error; without it, its text decides. */
  readonly source?: ErrorSource | undefined;
  /** A 429 hint above this is `quota`, in ms. @defaultValue 60000 */
  readonly maxPauseMs?: number | undefined;
  /** They add to the built-in texts; what is permanent wins, whichever side says it. */
  readonly patterns?: readonly ErrorPattern[] | undefined;
}

/**
 * Finds out what kind of failure was thrown: structured facts first (HTTP status, errno, JSON-RPC code with its source, close code,
 * exit code), along causes and aggregates, then the text of its error channels. Never throws, whatever it is given.
 *
 * @example
 * classify(new Error('gateway closed (1012): service restart'), { wallNow: clock.wallNow() }).kind; // 'transient'
 */
export function classify(error: unknown, context: ClassifyContext): FailureFacts {
  try {
    const { source, dispatched, maxPauseMs, patterns } = context;
    // Patterns of one's own may answer otherwise each time.
    const said = patterns === undefined ? keyOfError(error) : undefined;
    if (said === undefined) return examined(error, context);
    return knownFacts(`${source}|${dispatched}|${maxPauseMs}|${said}`, error, () => examined(error, context));
  } catch {
    // A revoked proxy throws whatever is asked of it.
    return { kind: 'unknown', message: nothingSaid, outcome: outcomeIn(context, 'unknown'), cause: error };
  }
}

const nothingSaid = 'An error without a message';

function examined(error: unknown, context: ClassifyContext): FailureFacts {
  const chain = errorChain(error);
  for (const each of chain) {
    if (each instanceof AttemptError) return { ...each.facts, cause: each.facts.cause ?? each };
    if (each instanceof IntegrationError) return factsOf(each);
  }
  const evidence = evidenceOf(chain, context.wallNow, context.source);
  const text = textOf(chain, evidence.texts);
  // Fields of an answer are there in its JSON as well, as far as it is a part of a message.
  const isWhole = (): boolean => isRefusal(textOf(chain) || text, text);
  const told = evidence.found?.isOfText === true ? open(evidence.found, isWhole) : evidence.found;
  const found = judged(told, text, context, isWhole);
  const kept = hinted.has(found.kind) ? evidence.hint : undefined;
  const hint = { ...textHintFor(found, text, context), ...given(kept), ...given(found.hint) };
  return {
    kind: ofWindow(found, hint.retryAfterMs, context.maxPauseMs ?? 60_000),
    reason: found.reason,
    message: messageOf(chain) || lineFor(found).slice(0, longestMessage),
    outcome: outcomeIn(context, found.outcome),
    retryAfterMs: hint.retryAfterMs,
    shouldRetry: hint.shouldRetry,
    status: found.status,
    code: found.code,
    ...(found.breaker !== undefined && { breaker: found.breaker }),
    cause: error,
  };
}

/** A limit is named by how long it holds. */
function ofWindow({ kind, isAnyWindow }: Finding, retryAfterMs: number | undefined, maxPauseMs: number): FailureKind {
  if (retryAfterMs === undefined) return kind;
  if (kind === 'rate_limit' && retryAfterMs > maxPauseMs) return 'quota';
  return kind === 'quota' && isAnyWindow === true && retryAfterMs <= maxPauseMs ? 'rate_limit' : kind;
}

/** The facts alone: attempts and name of the inner integration are not those of the call around it. */
function factsOf(error: IntegrationError): FailureFacts {
  const {
    integration: _,
    attempts: __,
    retryable: ___,
    fallbackError: ____,
    lastOutcome: _____,
    ...facts
  } = error.failure;
  return { ...facts, cause: facts.cause ?? error };
}

function outcomeIn({ dispatched }: ClassifyContext, outcome: EffectOutcome): EffectOutcome {
  return dispatched === false ? 'not_started' : outcome;
}

function lineFor({ status, code }: Finding): string {
  if (status !== undefined) return `HTTP ${status}`;
  return code === undefined ? nothingSaid : String(code);
}

/** Kinds that neither a configured text nor a hint may turn into something that is tried again. */
const firm: ReadonlySet<FailureKind> = new Set(['permanent', 'auth', 'quota', 'cancelled']);

/** Tells whether the errors say a refusal and nothing else. */
type IsWhole = () => boolean;

function judged(found: Finding | undefined, text: string, { patterns }: ClassifyContext, isWhole: IsWhole): Finding {
  const said = found?.settled === true ? undefined : textMeaning(text);
  const own = patterns?.find(({ pattern }) => holds(text, pattern));
  const known = found === undefined ? undefined : sharpenedByWords(found, said, plainSpeech(text));
  if (known !== undefined && firm.has(known.kind)) return known;
  if (own?.kind === 'permanent') return { ...known, kind: 'permanent', outcome: 'failed', reason: undefined };
  if (known !== undefined && known.kind !== 'unknown') return known;
  if (said !== undefined && firm.has(said.kind)) return worded(said, known, isWhole);
  if (own !== undefined) return { ...known, kind: own.kind, outcome: known?.outcome ?? outcomeOf(own.kind) };
  if (said !== undefined) return worded(said, known, isWhole);
  return known ?? means.unknown;
}

/** The kind that a text tells; that nothing was done only where it is a refusal as a whole, and tells of nothing else. */
function worded(said: Finding, found: Finding | undefined, isWhole: IsWhole): Finding {
  return {
    ...open(said, isWhole),
    code: found?.code ?? said.code,
    status: found?.status ?? said.status,
    hint: found?.hint,
  };
}

function open(said: Finding, isWhole: IsWhole): Finding {
  const isOpen = grants.has(said.outcome) && !unrepeated.has(said.kind) && !coded.test(String(said.code)) && !isWhole();
  return isOpen ? { ...said, outcome: 'unknown' } : said;
}

/** Codes of databases, which nobody says of anything but an answer of theirs. */
const coded = /^(?:\d[0-9A-Z][0-9A-Z]{3}|ORA-\d{5})$/;

/** Permission to make a call again, whatever it does. */
const grants: ReadonlySet<EffectOutcome> = new Set(['failed', 'not_started', 'not_done']);
/** Kinds after which nothing is made again. */
const unrepeated: ReadonlySet<FailureKind> = new Set(['permanent', 'auth', 'spawn', 'protocol', 'cancelled']);

function outcomeOf(kind: FailureKind): EffectOutcome {
  if (kind === 'cancelled') return 'cancelled';
  return kind === 'rate_limit' || kind === 'overloaded' || firm.has(kind) ? 'failed' : 'unknown';
}

function holds(text: string, pattern: TextTest | string): boolean {
  if (typeof pattern === 'string') return pattern !== '' && text.toLowerCase().includes(pattern.toLowerCase());
  if (!(pattern instanceof RegExp)) return says(pattern, text);
  // Flags that make a pattern remember its last match would make every second answer wrong.
  return new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, '')).test(text);
}

/** Asks a pattern; one that throws says nothing: the error is still to be classified. */
function says(pattern: TextTest, text: string): boolean {
  try {
    return pattern.test(text);
  } catch {
    return false;
  }
}

const hinted: ReadonlySet<FailureKind> = new Set(['rate_limit', 'quota', 'overloaded', 'transient']);

function textHintFor({ kind, hint }: Finding, text: string, { wallNow }: ClassifyContext): RetryHint {
  return hinted.has(kind) && hint?.retryAfterMs === undefined ? textHint(text, wallNow) : {};
}

function given(hint: RetryHint = {}): RetryHint {
  return Object.fromEntries(Object.entries(hint).filter(([, value]) => value !== undefined));
}
