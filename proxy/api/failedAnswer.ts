import { parsedJson } from '../../src/policy/text/face.ts';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type FailureFacts, type FailureKind, classify, read } from '../../src/policy/failures/face.ts';
import { errorIn, statusOf, toldError } from '../../src/streams/face.ts';

/** An answer that says no, kept as it came: it is what the client gets when no further attempt does better. */
export interface FailedAnswer {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Time at which it came, in monotonic ms. */
  readonly at: number;
}

/** Content of an answer: of its words only their meaning is kept. */
interface Said {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A quota is asked about again after so long: it may have been raised, in ms. */
const quotaMs = 60_000;

/**
 * Gives the meaning of an answer of 400 and above. Its body is read for that, and not told.
 * @param maxPauseMs - a hint above it is a quota.
 */
export function failureOfAnswer({ status, headers, body }: Said, wallNow: number, maxPauseMs: number): FailureFacts {
  const said = parsedJson(body);
  const facts = classify({ status, headers, body: said, message: body.slice(0, 4000) }, { wallNow, maxPauseMs });
  return silenced(facts, `HTTP ${status}${typeText(read(said, 'error') ?? said)}`);
}

/**
 * Gives the failure that an event of a stream tells: `error` of the messages and chat protocols, `response.failed` of responses.
 * @param message - what is told of it, before the name of its type.
 */
export function failureOfEvent(data: string, message: string, wallNow: number, maxPauseMs: number): FailureFacts {
  const said = parsedJson(data);
  const error = errorIn(said);
  const { status = statusOf(said), code, type, details, message: words } = toldError(error);
  const facts = classify({ status, error: { type, code, details }, message: words }, { wallNow, maxPauseMs });
  return silenced(facts, `${message}${typeText(error)}`);
}

/** The same for Codex, which knows no other event than `response.failed`: the code that it asks again by, or not, and the message that it shows. */
export function codexErrorOf(data: string, { kind, reason }: FailureFacts): { code: string; message: string } {
  const error = errorIn(parsedJson(data));
  const code = read(error, 'code');
  const isName = typeof code === 'string' && /^[a-z]\w*$/i.test(code);
  const usual = reason === 'context_length' ? 'context_length_exceeded' : (codexCodes[kind] ?? 'server_error');
  return {
    code: isName ? code : usual,
    message: toldError(error).message ?? 'The stream of the API broke with an error',
  };
}

/** All others are `server_error`, after which it asks again. */
const codexCodes: Readonly<Partial<Record<FailureKind, string>>> = {
  rate_limit: 'rate_limit_exceeded',
  quota: 'insufficient_quota',
  permanent: 'invalid_prompt',
  auth: 'invalid_prompt',
};

function silenced(facts: FailureFacts, message: string): FailureFacts {
  const { retryAfterMs } = facts;
  const isQuota = facts.kind === 'quota';
  return {
    ...facts,
    message,
    cause: undefined,
    retryAfterMs: isQuota && retryAfterMs !== undefined ? Math.min(retryAfterMs, quotaMs) : retryAfterMs,
  };
}

/** Names of errors are words; anything else may be what somebody said. */
function typeText(error: unknown): string {
  const names = [read(error, 'type'), read(error, 'code')];
  const name = names.find((each) => typeof each === 'string' && /^[a-z]+(?:_[a-z]+)*$/.test(each) && each.length <= 48);
  return typeof name === 'string' && name !== 'error' ? ` (${name})` : '';
}

/** Tells whether a failure speaks of the upstream as a whole, and not of this request or of its sender. */
export function isOfUpstream({ kind, status }: FailureFacts): boolean {
  if (status !== undefined && status < 500) return false;
  return (
    kind === 'transient' || kind === 'overloaded' || kind === 'timeout' || kind === 'protocol' || kind === 'unknown'
  );
}

/** Longest body of an answer that says no; a longer one is passed as it comes, in bytes. */
const mostRefused = 256 * 1024;

interface RefusalReader {
  /** Tells whether it is still collected: nothing of it went to the client, and the attempt goes on. */
  goesOn(): boolean;
  /** A chunk came that is kept. */
  touch(): void;
  /** Takes a chunk that came once it was too long. */
  pass(chunk: Buffer): void;
  /** It is too long to be judged as a whole: from here on it passes. @param chunks - all that came. */
  tooLong(chunks: Buffer[]): void;
  /** The end of one that was not collected to it. */
  passed(): void;
  read(body: Buffer): void;
}

/** Collects the body of an answer that says no, as long as it is short enough to be judged as a whole. */
export function collectRefusal(answer: IncomingMessage, reader: RefusalReader): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    if (!reader.goesOn()) {
      reader.pass(chunk);
      return;
    }
    reader.touch();
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostRefused) reader.tooLong(chunks);
  });
  answer.once('end', () => {
    if (reader.goesOn()) reader.read(Buffer.concat(chunks));
    else reader.passed();
  });
}
