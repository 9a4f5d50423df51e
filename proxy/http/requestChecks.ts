import type { IncomingHttpHeaders } from 'node:http';
import { rpcErrors } from '../../src/protocol/jsonRpc.ts';

/** Why a request is not served. */
export interface HttpRefusal {
  readonly status: number;
  /** That of the JSON-RPC error in its body. */
  readonly code: number;
  readonly message: string;
}

/** The code with which the SDKs' servers refuse what is wrong with HTTP rather than with a message. */
export const transportError = -32_000;

/** Revisions with a handshake that this transport may carry; the first two were made for another one. */
const handshakeRevisions: ReadonlySet<string> = new Set([
  '2024-10-07',
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
]);
/** The first revision without a handshake. Revisions are dates, so that they compare as texts. */
const firstModern = '2026-07-28';

/** Tells what is wrong with the headers of a POST; undefined when nothing is. */
export function refusePost(headers: IncomingHttpHeaders): HttpRefusal | undefined {
  if (!accepts(headers, 'application/json') || !accepts(headers, 'text/event-stream')) {
    const message = 'Not Acceptable: Client must accept both application/json and text/event-stream';
    return { status: 406, code: transportError, message };
  }
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    const message = 'Unsupported Media Type: Content-Type must be application/json';
    return { status: 415, code: transportError, message };
  }
  return refuseVersion(headers);
}

/** Tells what is wrong with the headers of a GET; undefined when nothing is. */
export function refuseGet(headers: IncomingHttpHeaders): HttpRefusal | undefined {
  if (!accepts(headers, 'text/event-stream')) {
    return { status: 406, code: transportError, message: 'Not Acceptable: Client must accept text/event-stream' };
  }
  return refuseVersion(headers);
}

/** A version that is no revision of the protocol; which of them a server speaks it says itself. */
export function refuseVersion(headers: IncomingHttpHeaders): HttpRefusal | undefined {
  const version = versionOf(headers);
  if (version === undefined || handshakeRevisions.has(version) || isModernVersion(version)) return undefined;
  const message = `Bad Request: Unsupported protocol version: ${version.slice(0, 40)}`;
  return { status: 400, code: transportError, message };
}

/** Returns what version the request says it is of; undefined when it does not. */
export function versionOf(headers: IncomingHttpHeaders): string | undefined {
  return headerOf(headers, 'mcp-protocol-version');
}

export function isModernVersion(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= firstModern;
}

/** The id of the session; undefined without one. */
export function sessionIdOf(headers: IncomingHttpHeaders): string | undefined {
  return headerOf(headers, 'mcp-session-id');
}

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
}

/** A wildcard takes everything; that a type may be refused by weight (`;q=0`) no client makes use of. */
function accepts({ accept = '' }: IncomingHttpHeaders, type: string): boolean {
  const [group] = type.split('/');
  const taken = accept.split(',').map((each) => each.split(';', 1)[0]?.trim().toLowerCase());
  return [type, `${group}/*`, '*/*'].some((each) => taken.includes(each));
}

export const notJson: HttpRefusal = {
  status: 400,
  code: rpcErrors.parse,
  message: 'Parse error: the body is not JSON',
};
