import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { errorAnswer, rpcErrors } from '../../src/protocol/face.ts';
import { type McpId, type McpRequest, claimedVersion, fieldsOf, namedBy } from '../../src/protocol/mcp/face.ts';
import { noTrace } from '../../web/server/httpServer.ts';

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

/** Answers a request that is not served: with a status, and an error that clients read. */
export function refuse(
  response: ServerResponse,
  { status, code, message }: HttpRefusal,
  id: McpId | null = null,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...noTrace, ...headers, 'Content-Type': 'application/json' });
  response.end(errorAnswer(id, code, message));
}

/** Codes of the stateless era that go with a status of HTTP. */
const headerMismatch = -32_020;
const statuses: ReadonlyMap<unknown, number> = new Map([
  [-32_700, 400],
  [-32_600, 400],
  [-32_601, 404],
  [headerMismatch, 400],
  [-32_021, 400],
  [-32_022, 400],
]);

/** The status of HTTP that an answer of the stateless era goes with. */
export function modernStatus(error: { readonly code?: unknown } | undefined): number {
  return error === undefined ? 200 : (statuses.get(error.code) ?? 200);
}

/**
 * Refuses a request of the stateless era whose headers are not what its body says: a server on stdio cannot see them. `Mcp-Param-*` are left alone: which
 * there are is for the server's own list of tools to say.
 */
export function refuseModern(headers: IncomingHttpHeaders, { method, params }: McpRequest): HttpRefusal | undefined {
  const claimed = claimedVersion(params);
  if (claimed === undefined) {
    const message = 'Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion';
    return { status: 400, code: -32_602, message };
  }
  const version = versionOf(headers);
  if (version !== claimed) return mismatch('MCP-Protocol-Version', version, claimed);
  const methodHeader = headerOf(headers, 'mcp-method');
  if (methodHeader !== method) return mismatch('Mcp-Method', methodHeader, method);
  const member = namedBy.get(method);
  const name = member === undefined ? undefined : fieldsOf(params)[member];
  if (typeof name !== 'string') return undefined;
  const header = headerOf(headers, 'mcp-name');
  return header !== undefined && plain(header) === name ? undefined : mismatch('Mcp-Name', header, name);
}

function mismatch(name: string, header: string | undefined, body: string): HttpRefusal {
  const said = header === undefined ? 'is missing' : `says ${shown(header)}`;
  const message = `Bad Request: the request headers and body disagree: ${name} ${said}, the body ${shown(body)}`;
  return { status: 400, code: headerMismatch, message };
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));

/** Decodes what does not fit into a header as it is, and so comes as base64. */
function plain(header: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1];
  if (encoded === undefined) return header;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}
