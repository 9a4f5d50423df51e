import { read, readInteger, readMessage, readString } from './errorChain.ts';
import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';
import type { Finding } from './finding.ts';

type Row = readonly [kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason];

/** Several codes that mean the same, as entries of a map. */
const all = (codes: string, ...row: Row): [string, Row][] => codes.split(' ').map((code) => [code, row]);

/** Names that errors carry in `code`, by Node, undici and the HTTP clients built on them. */
const errnos = new Map<string, Row>([
  ...all('ECONNREFUSED ENOTFOUND EAI_AGAIN ENETUNREACH EHOSTUNREACH EHOSTDOWN ENETDOWN', 'transient', 'not_started'),
  ...all('UND_ERR_CONNECT_TIMEOUT', 'transient', 'not_started'),
  ...all('ECONNRESET EPIPE ETIMEDOUT ECONNABORTED ENETRESET', 'transient', 'unknown', 'connection_lost'),
  ...all('UND_ERR_SOCKET UND_ERR_DESTROYED UND_ERR_INFO', 'transient', 'unknown', 'connection_lost'),
  // A body that ended before its end: by its framing, or by its compression.
  ...all('HPE_INVALID_EOF_STATE Z_BUF_ERROR', 'transient', 'unknown', 'connection_lost'),
  ...all('ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR', 'transient', 'unknown', 'connection_lost'),
  ...all('ERR_HTTP2_STREAM_CANCEL ERR_HTTP2_INVALID_STREAM', 'transient', 'unknown', 'connection_lost'),
  ...all('ERR_HTTP2_PING_CANCEL', 'transient', 'unknown', 'connection_lost'),
  ...all('ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_INVALID_SESSION', 'transient', 'not_started'),
  ...all('ERR_STREAM_PREMATURE_CLOSE', 'transient', 'unknown', 'connection_lost'),
  ...all('UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'transient', 'unknown', 'connection_lost'),
  ...all('UND_ERR_CLOSED', 'transient', 'not_started'),
  ...all('UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT ESOCKETTIMEDOUT', 'timeout', 'unknown'),
  ...all('ABORT_ERR ERR_CANCELED UND_ERR_ABORTED', 'cancelled', 'cancelled'),
  // A handshake that was refused, by them or by us.
  ...all('ERR_TLS_CERT_ALTNAME_INVALID EPROTO', 'protocol', 'not_started'),
  ...all('ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_UNSUPPORTED_PROTOCOL', 'protocol', 'not_started'),
  ...all('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'protocol', 'not_started'),
  ...all('ERR_INVALID_URL UND_ERR_INVALID_ARG UND_ERR_NOT_SUPPORTED', 'permanent', 'not_started'),
  ...all('UND_ERR_RES_EXCEEDED_MAX_SIZE', 'permanent', 'unknown', 'message_too_large'),
  ...all('UND_ERR_HEADERS_OVERFLOW Z_DATA_ERROR ERR_HTTP2_ERROR', 'protocol', 'unknown'),
]);

/** Names that mean something else where no process is started: a missing file. */
const spawnErrnos = new Map<string, Row>([...all('ENOENT EACCES EPERM E2BIG ENOEXEC ENOTDIR', 'spawn', 'not_started')]);

/** Shortages of this machine where a process is started, elsewhere of the program that was asked. */
const shortages: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Judges a shortage: ours says nothing about the other side. Theirs, as they tell of it, is no error of this system, which has a number. */
function shortage(error: unknown, code: string): Finding {
  const isOurs = error instanceof Error && readInteger(error, 'errno') !== undefined;
  return { kind: 'transient', outcome: 'not_started', code, breaker: isOurs ? 'ignored' : undefined };
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
  return finding(isCut ? errnos.get('HPE_INVALID_EOF_STATE') : ['protocol', 'unknown'], code) as Finding;
}

/** Codes with which one stream of HTTP/2 is closed, and which say more than that its connection broke. */
const streamErrors: readonly (readonly [RegExp, Row])[] = [
  // It was not begun, as RFC 9113 has it.
  [/NGHTTP2_REFUSED_STREAM/, ['transient', 'not_started']],
  [/NGHTTP2_ENHANCE_YOUR_CALM/, ['overloaded', 'unknown']],
  [/NGHTTP2_(?:PROTOCOL|FLOW_CONTROL|FRAME_SIZE|COMPRESSION)_ERROR/, ['protocol', 'unknown']],
  [/NGHTTP2_(?:INADEQUATE_SECURITY|HTTP_1_1_REQUIRED)/, ['protocol', 'not_started']],
];

function byStreamError(error: unknown, code: string): Finding | undefined {
  if (code !== 'ERR_HTTP2_STREAM_ERROR') return undefined;
  const message = readMessage(error);
  return finding(streamErrors.find(([pattern]) => pattern.test(message))?.[1], code);
}

/** Tells what a named error means: its errno, or that it was ended by a signal. */
export function byName(error: unknown): Finding | undefined {
  const name = readString(error, 'name');
  if (name === 'AbortError') return { kind: 'cancelled', outcome: 'cancelled' };
  const code = readString(error, 'code');
  // That of the fetch of Node 24 has no code.
  if (name === 'HTTPParserError') return parserMeaning(error, code);
  if (code === undefined) return undefined;
  if (certificate.test(code)) return { kind: 'protocol', outcome: 'not_started', code };
  if (malformed.test(code) && !errnos.has(code)) return { kind: 'protocol', outcome: 'unknown', code };
  const spawning = readString(error, 'syscall')?.startsWith('spawn') === true;
  if (spawning && shortages.has(code)) return shortage(error, code);
  const found =
    byStreamError(error, code) ?? finding(errnos.get(code) ?? (spawning ? spawnErrnos.get(code) : undefined), code);
  // A connection that never stood was not lost.
  const isRefused = found?.kind === 'transient' && isConnecting(error);
  return isRefused ? { ...found, outcome: 'not_started', reason: undefined } : found;
}

const closeCodes = new Map<number, Row>([
  [1000, ['crash', 'unknown', 'connection_closed']],
  [1001, ['transient', 'unknown']],
  [1002, ['protocol', 'unknown']],
  [1003, ['protocol', 'unknown']],
  [1005, ['crash', 'unknown', 'connection_closed']],
  [1006, ['transient', 'unknown', 'connection_lost']],
  [1007, ['protocol', 'unknown']],
  [1008, ['auth', 'failed']],
  [1009, ['permanent', 'failed', 'message_too_large']],
  [1011, ['transient', 'unknown']],
  [1012, ['transient', 'unknown']],
  [1013, ['transient', 'unknown']],
  [1014, ['transient', 'unknown']],
]);

/** Tells what the close of a WebSocket means; many errors have small numbers in `code`, so it must look like one. */
export function byCloseCode(error: unknown): Finding | undefined {
  const own = readInteger(error, 'closeCode');
  const looks =
    typeof read(error, 'wasClean') === 'boolean' ||
    read(error, 'type') === 'close' ||
    /clos|websocket/i.test(`${readString(error, 'name')} ${readMessage(error)}`);
  const code = own ?? (looks ? readInteger(error, 'code') : undefined);
  if (code === undefined || code < 1000 || code > 4999) return undefined;
  return finding(closeCodes.get(code) ?? ['unknown', 'unknown'], code);
}

function finding(row: Row | undefined, code: string | number | undefined): Finding | undefined {
  if (row === undefined) return undefined;
  const [kind, outcome, reason] = row;
  return { kind, outcome, reason, code };
}
