import type { Effect } from '../../policy/effects.ts';
import { fieldsOf, idKey, type McpParams } from './message.ts';

const effects: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['initialize', 'idempotent'],
  ['ping', 'readOnly'],
  ['server/discover', 'readOnly'],
  ['tools/list', 'readOnly'],
  ['prompts/list', 'readOnly'],
  ['prompts/get', 'readOnly'],
  ['resources/list', 'readOnly'],
  ['resources/templates/list', 'readOnly'],
  ['resources/read', 'readOnly'],
  ['completion/complete', 'readOnly'],
  ['logging/setLevel', 'idempotent'],
  ['resources/subscribe', 'idempotent'],
  ['resources/unsubscribe', 'idempotent'],
  ['tasks/get', 'readOnly'],
  ['tasks/list', 'readOnly'],
  ['tasks/result', 'readOnly'],
  ['tasks/cancel', 'idempotent'],
]);

/** Tells what a request does to the world by its method; undefined where the method does not say, as of tools and unknown methods. */
export function effectOfMethod(method: string): Effect | undefined {
  return effects.get(method);
}

/** Requests that ask people: their answer may take its time. */
export function asksPeople(method: string): boolean {
  return method === 'sampling/createMessage' || method === 'elicitation/create';
}

/** The member of the params that a request is routed by, by method: the header `Mcp-Name` repeats it. */
export const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** The field by which every request of the stateless era says which version it is of. */
export const versionField = 'io.modelcontextprotocol/protocolVersion';
/** The field by which a notification says which `subscriptions/listen` it belongs to. */
export const subscriptionField = 'io.modelcontextprotocol/subscriptionId';

/** Tells whether a request is of the era without a handshake (2026-07-28 and later). */
export function isModern(params: McpParams): boolean {
  return claimedVersion(params) !== undefined;
}

/** The key of the progress token in a request or a progress notification; undefined when there is none. */
export function progressKey(holder: McpParams): string | undefined {
  return idKey(holder['progressToken']);
}

/** The version that a request of the stateless era claims to be of; undefined when it is of the other. */
export function claimedVersion(params: McpParams): string | undefined {
  const version = fieldsOf(params['_meta'])[versionField];
  return typeof version === 'string' ? version : undefined;
}

/** Hints of an MCP server on a tool, as far as they bear on repeating a call. A hint: nobody holds the server to it. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
}

/**
 * The effect a tool's annotations stand for; undefined when they say nothing of it. A tool that says it changes something and not
 * that it may be repeated is taken at its word: what only adds would add twice.
 */
export function annotatedEffect(annotations: ToolAnnotations | undefined): Effect | undefined {
  if (annotations === undefined) return undefined;
  const { readOnlyHint, idempotentHint, destructiveHint } = annotations;
  if (readOnlyHint === true) return 'readOnly';
  if (idempotentHint === true) return 'idempotent';
  const said = [readOnlyHint, idempotentHint, destructiveHint].some((hint) => hint !== undefined);
  return said ? 'mutating' : undefined;
}

/**
 * Tells the progress of a request from its repetition. By the protocol its value increases; a server that says the same again only shows
 * that it runs, as a ping would.
 */
export class ProgressMark {
  #last: string | undefined = undefined;

  /** Tells whether a progress notification says something else than the one before. */
  moves({ progress, total, message }: McpParams): boolean {
    const said = JSON.stringify([progress, total, message]);
    if (said === this.#last) return false;
    this.#last = said;
    return true;
  }
}
