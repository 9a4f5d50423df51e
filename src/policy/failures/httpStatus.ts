import { read, readString } from './errorChain.ts';
import { type Finding, means, type Row } from './finding.ts';
import { type HeaderSource, header, headerHint, resetHint } from './hints.ts';

/**
 * Tells what an HTTP answer means: its status, wherever the clients keep it (`status`, `statusCode`, `response.status`, `$metadata.httpStatusCode`, a numeric
 * `code`; also as text), and its headers.
 * @param wallNow - wall time in ms, for hints that are dates.
 */
export function byStatus(error: unknown, wallNow: number): Finding | undefined {
  const response = read(error, 'response') ?? read(error, '$response');
  const places = [error, response, read(error, 'output')];
  const told = places.flatMap((each) => statusKeys.map((key) => statusIn(each, key)));
  told.push(statusIn(read(error, '$metadata'), 'httpStatusCode'));
  // A redirect that nobody followed is no answer either.
  const status = told.find((each) => isFailure(each, 300)) ?? codeOf(error);
  return status === undefined ? undefined : answerMeaning(status, error, response, wallNow);
}

const statusKeys = ['status', 'statusCode', 'status_code', 'httpStatus', 'httpStatusCode', 'error_code'] as const;

/** Tells what a status means that stands in a body or in a text, with the headers of the error around it. */
export function answerMeaning(status: number, error: unknown, response: unknown, wallNow: number): Finding {
  const given = read(error, 'headers') ?? read(response, 'headers') ?? read(error, 'responseHeaders');
  const headers = typeof given === 'object' && given !== null ? (given as HeaderSource) : undefined;
  if (headers === undefined) return { ...statusMeaning(status), status };
  const hint = headerHint(headers, wallNow);
  const limited = status === 403 && isLimit(headers);
  const retryAfterMs =
    hint.retryAfterMs ?? (limited || status === 429 || status === 503 ? resetHint(headers, wallNow) : undefined);
  const meaning = limited ? means.rateLimit : statusMeaning(status);
  return { ...meaning, status, hint: { ...hint, retryAfterMs } };
}

/** GitHub says 403 of both of its limits: none is left, or when to come again. */
function isLimit(headers: HeaderSource): boolean {
  return header(headers, 'retry-after') !== undefined || header(headers, 'x-ratelimit-remaining') === '0';
}

function statusIn(value: unknown, key: string): number | undefined {
  const found = read(value, key);
  if (typeof found === 'number') return Number.isInteger(found) ? found : undefined;
  return typeof found === 'string' && /^[1-5]\d\d$/.test(found) ? Number(found) : undefined;
}

function isFailure(status: number | undefined, from: number): boolean {
  return status !== undefined && status >= from && status <= 599;
}

function codeOf(error: unknown): number | undefined {
  const code = statusIn(error, 'code');
  // PostgreSQL's and others' own numbers are longer, an exit code has a command beside it.
  const isExit = readString(error, 'cmd') !== undefined;
  return !isExit && isFailure(code, 400) ? code : undefined;
}

const statuses: readonly Row<readonly number[]>[] = [
  [[401, 403, 407, 511], means.auth],
  [[402], means.quota],
  [[404, 410], means.notFound],
  [[413], means.tooLarge],
  [[429], means.rateLimit],
  [[529], means.overloaded],
  // Refused before they were carried out: too slow to arrive, too early, no room.
  [[408, 425, 503], means.refused],
  [[501, 505], means.permanent],
];

/** Tells what a status means by itself. */
export function statusMeaning(status: number): Finding {
  const known = statuses.find(([numbers]) => numbers.includes(status))?.[1];
  return known ?? (status < 500 ? means.permanent : means.broken);
}
