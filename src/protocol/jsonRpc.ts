import { parsedJson } from '../policy/text/parsedJson.ts';

/** Id of a request; 0 and the empty string are ids like any other. */
export type RpcId = number | string;

/** An error as it stands in a response. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
}

interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: unknown;
}

interface RpcResult {
  readonly kind: 'result';
  readonly id: RpcId;
  readonly result: unknown;
}

interface RpcFailure {
  readonly kind: 'error';
  /** `null` when the other side could not read which request it answers. */
  readonly id: RpcId | null;
  readonly error: RpcError;
}

/** Message that is none of the others; `code` is that of the error with which JSON-RPC answers it. */
export interface RpcGarbage {
  readonly kind: 'garbage';
  readonly code: typeof rpcErrors.parse | typeof rpcErrors.invalidRequest;
  readonly reason: string;
  /** The id in it, so that the request that waits for it can be ended. */
  readonly id: RpcId | null;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResult | RpcFailure | RpcGarbage;

/** Codes that JSON-RPC reserves. */
export const rpcErrors = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

/**
 * Reads one message. Some peers leave `jsonrpc` out; a version other than 2.0 is garbage, as are batches. A message with a
 * method is never a response, whatever else it holds. Never throws.
 */
export function parseRpc(text: string): RpcMessage {
  const value = parsedJson(text);
  if (value === undefined) return { kind: 'garbage', code: rpcErrors.parse, reason: 'not JSON', id: null };
  if (typeof value !== 'object' || value === null) return invalid('not an object', null);
  if (Array.isArray(value)) return invalid('a batch', null);
  return parseObject(value as Fields);
}

type Fields = Readonly<Partial<Record<'jsonrpc' | 'id' | 'method' | 'params' | 'result' | 'error', unknown>>>;

function parseObject(fields: Fields): RpcMessage {
  const id = isId(fields.id) ? fields.id : null;
  if (fields.jsonrpc !== undefined && fields.jsonrpc !== '2.0') return invalid('not JSON-RPC 2.0', id);
  if (fields.id !== undefined && fields.id !== null && id === null) return invalid('an id of a wrong type', null);
  if ('method' in fields) return parseCall(fields, id);
  if ('error' in fields && fields.error !== null) return parseFailure(fields, id);
  if (!('result' in fields)) return invalid('neither a method nor a result nor an error', id);
  return id === null ? invalid('a result without an id', null) : { kind: 'result', id, result: fields.result };
}

function parseCall({ id: given, method, params }: Fields, id: RpcId | null): RpcMessage {
  if (typeof method !== 'string') return invalid('a method that is no string', id);
  if (id !== null) return { kind: 'request', id, method, params };
  return given === null ? invalid('a request whose id is null', null) : { kind: 'notification', method, params };
}

function parseFailure({ error }: Fields, id: RpcId | null): RpcMessage {
  const { code, message, data } = (typeof error === 'object' ? error : {}) as Partial<RpcError>;
  if (!Number.isInteger(code) || typeof message !== 'string') return invalid('an error without code and message', id);
  return { kind: 'error', id, error: { code: Number(code), message, ...(data !== undefined && { data }) } };
}

// A fraction comes back as another text from some peers, and would answer nothing.
function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function invalid(reason: string, id: RpcId | null): RpcGarbage {
  return { kind: 'garbage', code: rpcErrors.invalidRequest, reason, id };
}

/**
 * A message as one line: JSON has no bare line breaks. A result of `undefined` is to be given as `null`.
 * @throws TypeError when it cannot be written as JSON.
 */
export function rpcLine(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
}

/** @param id - null when it is not known which request it answers. */
export function errorAnswer(id: RpcId | null, code: number, message: string, data?: object): string {
  return rpcLine({ id, error: { code, message, data } });
}

export function requestLine(id: RpcId, method: string, params: object | undefined): string {
  return rpcLine({ id, method, params });
}

export function notificationLine(method: string, params?: object): string {
  return rpcLine({ method, params });
}
