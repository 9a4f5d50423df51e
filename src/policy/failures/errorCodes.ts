import { read, readInteger, readMessage, readString } from './errorChain.ts';
import { byNumber, byPattern, type Finding, means, type Row } from './finding.ts';

/** Several codes that mean the same, as entries of a map. */
const all = (codes: string, meaning: Finding): [string, Finding][] =>
  codes.split(' ').map((code) => [code, { ...meaning, code }]);

/** Names that errors carry in `code`, by Node, undici and the HTTP clients built on them. */
const errnos = new Map<string, Finding>([
  ...all('ECONNREFUSED ENOTFOUND EAI_AGAIN ENETUNREACH EHOSTUNREACH EHOSTDOWN ENETDOWN', means.unsent),
  ...all('UND_ERR_CONNECT_TIMEOUT UND_ERR_CLOSED', means.unsent),
  ...all('ECONNRESET EPIPE ETIMEDOUT ECONNABORTED ENETRESET', means.disconnected),
  ...all('UND_ERR_SOCKET UND_ERR_DESTROYED UND_ERR_INFO', means.disconnected),
  // A body that ended before its end: by its framing, or by its compression.
  ...all('HPE_INVALID_EOF_STATE Z_BUF_ERROR', means.disconnected),
  ...all('ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR', means.disconnected),
  ...all('ERR_HTTP2_STREAM_CANCEL ERR_HTTP2_INVALID_STREAM ERR_HTTP2_PING_CANCEL', means.disconnected),
  ...all('ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_INVALID_SESSION', means.unsent),
  ...all('ERR_STREAM_PREMATURE_CLOSE UND_ERR_RES_CONTENT_LENGTH_MISMATCH', means.disconnected),
  ...all('UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT ESOCKETTIMEDOUT', means.timeout),
  ...all('ABORT_ERR ERR_CANCELED UND_ERR_ABORTED', means.cancelled),
  ...all('ERR_TLS_CERT_ALTNAME_INVALID EPROTO', means.handshake),
  ...all('ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_UNSUPPORTED_PROTOCOL', means.handshake),
  ...all('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', means.handshake),
  ...all('ERR_INVALID_URL UND_ERR_INVALID_ARG UND_ERR_NOT_SUPPORTED', { kind: 'permanent', outcome: 'not_started' }),
  ...all('UND_ERR_RES_EXCEEDED_MAX_SIZE', { kind: 'permanent', outcome: 'unknown', reason: 'message_too_large' }),
  ...all('UND_ERR_HEADERS_OVERFLOW Z_DATA_ERROR ERR_HTTP2_ERROR', means.protocol),
]);

/** Names that mean something else where no process is started: a missing file. */
const spawnErrnos = new Map(all('ENOENT EACCES EPERM E2BIG ENOEXEC ENOTDIR', means.spawn));

/** Shortages of this machine where a process is started, elsewhere of the program that was asked. */
const shortages: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Judges a shortage: ours says nothing about the other side. Theirs, as they tell of it, is no error of this system, which has a number. */
function shortage(error: unknown, code: string): Finding {
  const isOurs = error instanceof Error && readInteger(error, 'errno') !== undefined;
  return { ...means.unsent, code, breaker: isOurs ? 'ignored' : undefined };
}

const certificate = /^CERT_|^UNABLE_TO_(?:VERIFY|GET_ISSUER)|SELF_SIGNED_CERT/;
/** Codes of Node's parser of HTTP, and of brotli. */
const malformed = /^HPE_|^ERR__ERROR_FORMAT_/;

/** Tells whether the connection broke before it stood: nothing was sent. With several addresses, each was tried. */
function isConnecting(error: unknown): boolean {
  if (readString(error, 'syscall') === 'connect') return true;
  if (readMessage(error).includes('before secure TLS connection was established')) return true;
  const tried = read(error, 'errors');
  return Array.isArray(tried) && tried.length > 0 && tried.every((each) => readString(each, 'syscall') === 'connect');
}

/** An answer that ended before its end did not break a rule: its connection broke. */
function parserMeaning(error: unknown, code: string | undefined): Finding {
  const isCut = code === 'HPE_INVALID_EOF_STATE' || readMessage(error).includes('Invalid EOF state');
  return { ...(isCut ? means.disconnected : means.protocol), code };
}

/** Codes with which one stream of HTTP/2 is closed, and which say more than that its connection broke. */
const streamErrors: readonly Row[] = [
  // It was not begun, as RFC 9113 has it.
  [/NGHTTP2_REFUSED_STREAM/, means.unsent],
  [/NGHTTP2_ENHANCE_YOUR_CALM/, { kind: 'overloaded', outcome: 'unknown' }],
  [/NGHTTP2_(?:PROTOCOL|FLOW_CONTROL|FRAME_SIZE|COMPRESSION)_ERROR/, means.protocol],
  [/NGHTTP2_(?:INADEQUATE_SECURITY|HTTP_1_1_REQUIRED)/, means.handshake],
];

/** Tells what a named error means: its errno, or that it was ended by a signal. */
export function byName(error: unknown): Finding | undefined {
  const name = readString(error, 'name');
  if (name === 'AbortError') return means.cancelled;
  const code = readString(error, 'code');
  // That of the fetch of Node 24 has no code.
  if (name === 'HTTPParserError') return parserMeaning(error, code);
  if (code === undefined) return undefined;
  if (certificate.test(code)) return { ...means.handshake, code };
  if (malformed.test(code) && !errnos.has(code)) return { ...means.protocol, code };
  const spawning = readString(error, 'syscall')?.startsWith('spawn') === true;
  if (spawning && shortages.has(code)) return shortage(error, code);
  const ofStream = code === 'ERR_HTTP2_STREAM_ERROR' ? byPattern(streamErrors, readMessage(error), code) : undefined;
  const found = ofStream ?? errnos.get(code) ?? (spawning ? spawnErrnos.get(code) : undefined);
  // A connection that never stood was not lost.
  const isRefused = found?.kind === 'transient' && isConnecting(error);
  return isRefused ? { ...found, outcome: 'not_started', reason: undefined } : found;
}

const closeCodes: readonly Row<readonly number[]>[] = [
  [[1000, 1005], means.closed],
  [[1001, 1011, 1012, 1013, 1014], means.broken],
  [[1002, 1003, 1007], means.protocol],
  [[1006], means.disconnected],
  [[1008], means.auth],
  [[1009], means.tooLarge],
];

/** Tells what the close of a WebSocket means; many errors have small numbers in `code`, so it must look like one. */
export function byCloseCode(error: unknown): Finding | undefined {
  const own = readInteger(error, 'closeCode');
  const looks =
    typeof read(error, 'wasClean') === 'boolean' ||
    read(error, 'type') === 'close' ||
    /clos|websocket/i.test(`${readString(error, 'name')} ${readMessage(error)}`);
  const code = own ?? (looks ? readInteger(error, 'code') : undefined);
  if (code === undefined || code < 1000 || code > 4999) return undefined;
  return byNumber(closeCodes, code) ?? { ...means.unknown, code };
}

/** Names and codes with which HTTP clients, drivers and SDKs tell of a limit of their own. */
const limitNames = /^(?:\w*Timeout(?:Error)?|\w*TimedOut(?:Error)?)$/;
/** Clients give these to their own limits, and hand on the system's under the same name. */
const sharedCodes: ReadonlySet<string> = new Set(['ECONNABORTED', 'ETIMEDOUT', 'ETIMEOUT', 'ETIME', 'ESOCKETTIMEDOUT']);
/** Words of a limit; the system's own say `connect ETIMEDOUT 192.0.2.1:443`. */
const limitWords = /\btime(?:d )?[- ]?out\b|\btime limit\b|\bdeadline\b/i;
/** Steps before anything is sent. */
const connecting = /^(?:lookup|connect|secureConnect)$/;
const unconnected =
  /\b(?:did not|without) establish(?:ing)? a connection\b|\bconnect timeout\b|\bawaiting '(?:connect|lookup|secureConnect)'/i;

/**
 * Tells what the limit of the client that was used means: axios, got, ky, undici, superagent, the AWS SDK and those that are written like them. It is one of
 * ours, not a broken connection: what was sent may be under way.
 */
export function byClientLimit(error: unknown): Finding | undefined {
  const name = readString(error, 'name') ?? '';
  const code = readString(error, 'code');
  const message = readMessage(error);
  if (name === 'AbortError' && isOfTime(error)) return { ...means.timeout, code };
  // The system's own, as the client hands it on.
  if (isOfSystem(error) || isOfSystem(read(error, 'cause'))) return undefined;
  const isNamed = limitNames.test(name) || limitNames.test(className(error));
  const isCoded =
    code !== undefined && sharedCodes.has(code) && (limitWords.test(message) || isOfAxios(error, message));
  if (!isNamed && !isCoded) return undefined;
  const isBefore =
    connecting.test(readString(error, 'event') ?? '') ||
    read(error, 'beforeHandshake') === true ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    /^Connect(?:ion)?Time/.test(name) ||
    unconnected.test(message);
  return { ...(isBefore ? means.unsent : means.timeout), code };
}

/** An abort whose reason is a limit: `AbortSignal.timeout` handed to a client. */
function isOfTime(error: unknown): boolean {
  const inner = [read(error, 'cause'), read(error, 'reason')];
  return inner.some((each) => readString(each, 'name') === 'TimeoutError');
}

function isOfSystem(error: unknown): boolean {
  return readInteger(error, 'errno') !== undefined || readString(error, 'syscall') !== undefined;
}

/** Its limit may have words of the caller's; the same code without one is the end of a connection. */
function isOfAxios(error: unknown, message: string): boolean {
  const isAxios = readString(error, 'name') === 'AxiosError' || read(error, 'isAxiosError') === true;
  const limits = [read(error, 'timeout'), read(read(error, 'config'), 'timeout')];
  const isLimited = limits.some((each) => typeof each === 'number' && each > 0);
  return isLimited || (isAxios && read(error, 'cause') === undefined && !/aborted/i.test(message));
}

function className(error: unknown): string {
  return readString(read(error, 'constructor'), 'name') ?? '';
}
