import type { ServerResponse } from 'node:http';
import type { McpId } from '../../src/protocol/mcp/message.ts';
import { errorAnswer } from '../../src/protocol/mcp/syntheticAnswer.ts';
import { noTrace } from '../../web/server/httpServer.ts';
import type { HttpRefusal } from './requestChecks.ts';

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
