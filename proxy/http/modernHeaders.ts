import type { IncomingHttpHeaders } from 'node:http';
import { fieldsOf, type McpRequest } from '../../src/protocol/mcp/message.ts';
import { claimedVersion } from '../../src/protocol/mcp/methods.ts';
import { type HttpRefusal, headerOf, versionOf } from './requestChecks.ts';

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

/** The member of the params that the header `Mcp-Name` repeats, by method. */
const named: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
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
  const member = named.get(method);
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
