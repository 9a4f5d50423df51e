import { byDatabase } from './databaseCodes.ts';
import { type ErrorBody, errorBody } from './errorBody.ts';
import { read, readMessage, readString } from './errorChain.ts';
import { byCloseCode, byName, byClientLimit } from './errorCodes.ts';
import { nameMeaning } from './errorNames.ts';
import { byExit } from './exitCodes.ts';
import { byPattern, type Finding, means, type Row } from './finding.ts';
import { byGrpc } from './grpcStatus.ts';
import type { RetryHint } from './hints.ts';
import { answerMeaning, byStatus } from './httpStatus.ts';
import { byRpcCode, type ErrorSource } from './rpcCodes.ts';
import { sharpenedByName } from './sharpened.ts';
import { fieldHint } from './textHints.ts';

/** Evidence in the structure of a chain of errors. */
interface Evidence {
  /** The first error of the chain whose structure says something; undefined where none does. */
  readonly found: Finding | undefined;
  /** Texts for people in the bodies of the answers. */
  readonly texts: readonly string[];
  /** Advice of the fields on calling again, where no structure says what happened. */
  readonly hint?: RetryHint | undefined;
}

/**
 * Looks for the structure of errors that says what happened: the answer of a server with its body, the limit of a client, an errno, a status of
 * gRPC, a SQLSTATE, a code of JSON-RPC or of a WebSocket, an exit.
 */
export function evidenceOf(chain: readonly unknown[], wallNow: number, source: ErrorSource | undefined): Evidence {
  const texts: string[] = [];
  let vague: Finding | undefined;
  let hint: RetryHint = {};
  for (const [place, each] of chain.entries()) {
    const body = errorBody(each);
    texts.push(...body.texts);
    const found = ofOne(each, body, wallNow, source);
    if (hint.retryAfterMs === undefined) hint = fieldHint(body.fields, wallNow);
    if (found === undefined) continue;
    // A client that got no answer at all may make up a status.
    if (found.status !== undefined && isMadeUp(each)) {
      const below = chain.slice(place + 1).flatMap((inner) => byClientLimit(inner) ?? byName(inner) ?? []);
      if (below[0] !== undefined) return { found: below[0], texts };
    }
    // A connection that failed by its name alone: what is below may know whether it stood.
    const isVague = found.kind === 'unknown' || (found.kind === 'transient' && found.isNameAlone === true);
    if (!isVague) return { found: hinted(found, body, wallNow), texts };
    if (vague === undefined || vague.kind === 'unknown') vague = found;
  }
  return { found: vague, texts, hint };
}

function ofOne(error: unknown, body: ErrorBody, wallNow: number, source: ErrorSource | undefined): Finding | undefined {
  const named = nameMeaning(...body.names, readString(error, 'name') ?? '', className(error));
  const place = body.numbers.findIndex((each) => each >= 400 && each <= 599);
  const own = byStatus(error, wallNow);
  const answer =
    own ?? (place < 0 ? undefined : answerMeaning(body.numbers[place] ?? 0, error, read(error, 'response'), wallNow));
  if (answer !== undefined) {
    const isOfText = own === undefined && place >= body.inFields.numbers;
    return { ...sharpenedByName(answer, named), ...(isOfText && { isOfText }) };
  }
  const isQuoted = named !== undefined && body.names.indexOf(named.code) >= body.inFields.names;
  return (
    byClientLimit(error) ??
    byName(error) ??
    byGrpc(error) ??
    byDatabase(error) ??
    byRedis(error) ??
    byRpcCode(error, source) ??
    byCloseCode(error) ??
    byExit(error) ??
    (named === undefined ? undefined : { ...named, isNameAlone: true, ...(isQuoted && { isOfText: true }) })
  );
}

/** The class of an error whose name is the general one. */
function className(error: unknown): string {
  return error instanceof Error ? (readString(read(error, 'constructor'), 'name') ?? '') : '';
}

function isMadeUp(error: unknown): boolean {
  const kept = ['response', '$response', 'headers', 'body', 'data', '$metadata'];
  return kept.every((key) => read(error, key) === undefined);
}

/** With what the body says of calling again, where no header does. */
function hinted(found: Finding, { fields }: ErrorBody, wallNow: number): Finding {
  if (found.hint?.retryAfterMs !== undefined) return found;
  const { retryAfterMs } = fieldHint(fields, wallNow);
  return retryAfterMs === undefined ? found : { ...found, hint: { ...found.hint, retryAfterMs } };
}

/** The first word of an error that Redis answers with. */
const words: readonly Row[] = [
  [/^(?:NOAUTH|WRONGPASS|NOPERM|DENIED)$/, means.auth],
  [/^(?:LOADING|BUSY|TRYAGAIN|MASTERDOWN|CLUSTERDOWN|READONLY|NOREPLICAS|MISCONF)$/, means.refused],
  [/^OOM$/, means.overloaded],
  [/^UNBLOCKED$/, means.broken],
];

/** Tells what an error that Redis answered with means: it refused the command before it did anything. */
function byRedis(error: unknown): Finding | undefined {
  const name = readString(error, 'name');
  if (name !== 'ReplyError' && name !== 'SimpleError' && name !== 'ErrorReply') return undefined;
  const message = readMessage(error);
  const word = /^-?([A-Z]{2,})\b/.exec(message)?.[1];
  if (word === undefined) return undefined;
  if (/^-?ERR max number of clients/.test(message)) return { ...means.unsent, code: word };
  return byPattern(words, word) ?? { ...means.permanent, code: word };
}
