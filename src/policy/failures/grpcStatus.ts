import { read, readInteger, readMessage, readString } from './errorChain.ts';
import { type Finding, means, type Row } from './finding.ts';

/** The statuses of gRPC by number; Google's APIs have the same names in the bodies of HTTP. */
const statuses: readonly Row<string>[] = [
  ['OK', means.unknown],
  ['CANCELLED', means.cancelled],
  ['UNKNOWN', means.unknown],
  ['INVALID_ARGUMENT', means.permanent],
  ['DEADLINE_EXCEEDED', means.timeout],
  ['NOT_FOUND', means.notFound],
  ['ALREADY_EXISTS', means.permanent],
  ['PERMISSION_DENIED', means.auth],
  ['RESOURCE_EXHAUSTED', means.rateLimit],
  ['FAILED_PRECONDITION', means.permanent],
  ['ABORTED', means.refused],
  ['OUT_OF_RANGE', means.permanent],
  ['UNIMPLEMENTED', means.permanent],
  ['INTERNAL', means.broken],
  // A connection that broke on the way has it too: nothing says that the request was not carried out.
  ['UNAVAILABLE', means.broken],
  ['DATA_LOSS', means.unknown],
  ['UNAUTHENTICATED', means.auth],
];

/** Says of UNAVAILABLE that nothing was sent. */
const unsent =
  /no connection established|failed to connect|connection refused|ECONNREFUSED|name resolution|dns resolution/i;

/** Tells what a status of gRPC means. @param words - what was said with it. */
function grpcMeaning(status: number | string, words = ''): Finding | undefined {
  const row = typeof status === 'number' ? statuses[status] : statuses.find(([name]) => name === plain(status));
  if (row === undefined || row[0] === 'OK') return undefined;
  const [code, meaning] = row;
  const isTooLarge = code === 'RESOURCE_EXHAUSTED' && /message larger than max/i.test(words);
  const isUnsent = code === 'UNAVAILABLE' && unsent.test(words);
  return { ...(isTooLarge ? means.tooLarge : isUnsent ? means.unsent : meaning), code };
}

/** Go and Python write `ResourceExhausted`, and some `CANCELED`. */
function plain(name: string): string {
  const upper = /^[A-Z_]+$/.test(name) ? name : name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  return upper === 'CANCELED' ? 'CANCELLED' : upper;
}

/** `14 UNAVAILABLE: …` of grpc-js, `rpc error: code = Unavailable desc = …` of Go, `StatusCode.UNAVAILABLE`of Python. */
const written = [
  /(?:^|: )(?:\d{1,2} )?(?<name>[A-Z][A-Z_]+):/m,
  /\brpc error: code = (?<name>[A-Za-z]+)\b/,
  /\bStatusCode\.(?<name>[A-Z_]+)\b/,
];

/** Reads what a text says of a call by gRPC. */
export function grpcText(text: string): Finding | undefined {
  for (const pattern of written) {
    const name = pattern.exec(text)?.groups?.['name'];
    const found = name === undefined ? undefined : grpcMeaning(name, text);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Tells what an error of a gRPC client means: its small number in `code` stands beside `details` and `metadata`. */
export function byGrpc(error: unknown): Finding | undefined {
  const code = readInteger(error, 'code');
  if (code === undefined || code < 1 || code > 16) return undefined;
  const message = readMessage(error);
  const looks =
    (readString(error, 'details') !== undefined && typeof read(error, 'metadata') === 'object') ||
    grpcText(message) !== undefined;
  return looks ? grpcMeaning(code, `${message} ${readString(error, 'details') ?? ''}`) : undefined;
}
