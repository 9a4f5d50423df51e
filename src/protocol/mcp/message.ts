import { elementSpans } from './jsonSpans.ts';
import { parsedJson } from '../../policy/text/parsedJson.ts';
/** An id as JSON-RPC has it; 0 and the empty string are ids like any other, and so is a fraction. */
export type McpId = number | string;

export type McpParams = Readonly<Record<string, unknown>>;

export interface McpRequest {
  readonly kind: 'request';
  readonly id: McpId;
  /** The id as the key of a table: 1 and "1" are two. */
  readonly key: string;
  readonly method: string;
  readonly params: McpParams;
  /** The message as it was read. */
  readonly whole?: McpParams | undefined;
}

export interface McpNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: McpParams;
  /** The message as it was read. */
  readonly whole?: McpParams | undefined;
}

export interface McpAnswer {
  readonly kind: 'answer';
  /** Undefined when the other side could not read which request it answers. */
  readonly key: string | undefined;
  /** Undefined when it is an error. */
  readonly result: McpParams | undefined;
  readonly error: McpParams | undefined;
  /** Part that it lacks of the form of an answer: no client would take it for one. */
  readonly flaw: string | undefined;
}

interface McpBatch {
  readonly kind: 'batch';
  readonly items: readonly McpMessage[];
}

/** JSON that is no message of JSON-RPC (`foreign`), or no JSON (`garbage`). */
interface McpStranger {
  readonly kind: 'foreign' | 'garbage';
}

export type McpMessage = McpRequest | McpNotification | McpAnswer | McpBatch | McpStranger;

/**
 * Reads one line of MCP, as little of it as it takes to pass it on. Lenient where a peer may be: what has a method is a request or
 * a notification, what has an id beside a result or an error is an answer, whatever else there is. Never throws.
 */
export function readMessage(line: string): McpMessage {
  const value = parsedJson(line);
  if (value === undefined) return { kind: 'garbage' };
  if (Array.isArray(value) && value.length > 0) return { kind: 'batch', items: value.map(readValue) };
  return readValue(value);
}

/** A message with its text. */
interface ReadItem {
  readonly item: McpMessage;
  readonly own: string;
}

/** The messages of a line with the text of each: those of a batch, or the one that it is. */
export function messagesOf(message: McpMessage, text: string): readonly ReadItem[] {
  if (message.kind !== 'batch') return [{ item: message, own: text }];
  const spans = elementSpans(text);
  return message.items.flatMap((item, index) => {
    const span = spans[index];
    return span === undefined ? [] : [{ item, own: text.slice(span.start, span.end) }];
  });
}

/** The key of an id; undefined when it is none. */
export function idKey(id: unknown): string | undefined {
  if (typeof id === 'string') return `s${id}`;
  // Nothing is left of 1e999 that could be answered.
  return typeof id === 'number' && Number.isFinite(id) ? `n${id}` : undefined;
}

/** The fields of an object; none when it is no object. */
export function fieldsOf(value: unknown): McpParams {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as McpParams) : noParams;
}

const noParams: McpParams = Object.freeze({});

function readValue(value: unknown): McpMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'foreign' };
  const whole = value as Record<string, unknown>;
  const { jsonrpc, id, method, params, result, error } = whole;
  const key = idKey(id);
  if (typeof method === 'string') {
    if (key !== undefined) return { kind: 'request', id: id as McpId, key, method, params: fieldsOf(params), whole };
    // Some write that they have no id.
    const isNone = id === undefined || (id === null && method.startsWith('notifications/'));
    return isNone ? { kind: 'notification', method, params: fieldsOf(params), whole } : { kind: 'foreign' };
  }
  if (method !== undefined) return { kind: 'foreign' };
  if (error !== undefined && error !== null) {
    const fields = fieldsOf(error);
    const flaw = flawOfVersion(jsonrpc) ?? flawOfError(fields);
    return { kind: 'answer', key, result: undefined, error: fields, flaw };
  }
  if (result === undefined || key === undefined) return { kind: 'foreign' };
  const fields = fieldsOf(result);
  const flaw = flawOfVersion(jsonrpc) ?? (fields === result ? undefined : 'its result is no object');
  return { kind: 'answer', key, result: fields, error: undefined, flaw };
}

function flawOfVersion(jsonrpc: unknown): string | undefined {
  return jsonrpc === '2.0' ? undefined : 'it is not of JSON-RPC 2.0';
}

function flawOfError({ code, message }: McpParams): string | undefined {
  return Number.isInteger(code) && typeof message === 'string' ? undefined : 'its error has no code and message';
}

/** A message that began in the middle of a line, and what stood before it. */
interface GluedMessage {
  readonly noise: string;
  readonly value: object;
}

/** Place where a message may begin: every one has a member of these names, and may have it first. */
const beginning = /\{\s*"(?:jsonrpc|id|result|error)"\s*:/g;
/** Each is read to its end; the messages of a server that quotes others are not looked for further. */
const mostBeginnings = 8;

/**
 * The JSON-RPC message with which a line ends that is no JSON: a server that has written something without a line end, before its
 * answer. Undefined when there is none.
 * @param isWanted - whether a message is looked for; a log may quote others.
 */
export function gluedMessage(line: string, isWanted: (value: object) => boolean): GluedMessage | undefined {
  let tried = 0;
  for (const { index } of line.matchAll(beginning)) {
    if (tried === mostBeginnings) return undefined;
    tried += 1;
    const value = parsedJson(line.slice(index)) as object | undefined;
    if (value !== undefined) return isWanted(value) ? { noise: line.slice(0, index), value } : undefined;
  }
  return undefined;
}
