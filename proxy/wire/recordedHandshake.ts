import { isListMethod } from './listRecord.ts';
import { type McpParams, type McpRequest, fieldsOf, isModern, versionField } from '../../src/protocol/mcp/face.ts';

/** Record of what a server said to a client at its start, so that the next one can be told the same before its server is there. */
export interface RecordedHandshake {
  readonly initialize?: McpParams | undefined;
  /** The answer to `server/discover`, which a server of the era with a handshake refuses. */
  readonly discover?: McpParams | undefined;
  /** The error of that refusal. */
  readonly refused?: McpParams | undefined;
  /** All pages of each list, by the method that asks for it. */
  readonly lists: Readonly<Record<string, readonly McpParams[]>>;
}

/** Kept under one name: what a server says may depend on who asks it. */
type Asked = Pick<McpRequest, 'method' | 'params'>;

/** The client, and what it can do, as it says itself in a request that may be the first; undefined where that says nothing of it. */
export function clientIn({ method, params }: Asked): string | undefined {
  if (method === 'initialize') {
    return JSON.stringify(['legacy', params['protocolVersion'], params['clientInfo'], params['capabilities']]);
  }
  if (!isModern(params)) return undefined;
  const meta = fieldsOf(params['_meta']);
  const about = ['clientInfo', 'clientCapabilities'].map((name) => meta[`io.modelcontextprotocol/${name}`]);
  return JSON.stringify(['modern', meta[versionField], ...about]);
}

/** The page that a request for a list asks for; undefined where it is not on record, or asks for more than a page. */
export function pageOnRecord({ lists }: RecordedHandshake, { method, params }: Asked): McpParams | undefined {
  if (Object.keys(params).some((name) => name !== 'cursor' && name !== '_meta')) return undefined;
  const pages = Object.hasOwn(lists, method) ? lists[method] : undefined;
  const { cursor } = params;
  if (pages === undefined || cursor === undefined) return pages?.[0];
  const before = pages.findIndex((page) => page['nextCursor'] === cursor);
  return before < 0 ? undefined : pages[before + 1];
}

/** The result as it is given from a record: for how long it stays so its server has not said of now. */
export function asOfRecord(result: McpParams): McpParams {
  return typeof result['ttlMs'] === 'number' ? { ...result, ttlMs: 0 } : result;
}

/** Reads what was kept; undefined where it is not of this form. */
export function readRecordedHandshake(value: unknown): RecordedHandshake | undefined {
  const { initialize, discover, refused, lists } = fieldsOf(value);
  if (![initialize, discover, refused].every((each) => each === undefined || isObject(each))) return undefined;
  if (!isObject(lists)) return undefined;
  const isWhole = Object.entries(lists).every(
    ([method, pages]) => isListMethod(method) && Array.isArray(pages) && pages.length > 0 && pages.every(isObject),
  );
  return isWhole ? (value as RecordedHandshake) : undefined;
}

function isObject(value: unknown): value is McpParams {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Handshakes that proxies of this very command have seen, by the client as it says itself who it is. Nothing here throws. */
export interface HandshakeShelf {
  find(client: string): RecordedHandshake | undefined;
  keep(client: string, recorded: RecordedHandshake): void;
  drop(client: string): void;
}
