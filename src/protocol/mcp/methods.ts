import type { Effect } from '../../policy/effects.ts';
import { fieldsOf, type McpParams } from './message.ts';

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

/** The lists a server has, by the method that asks for one. */
export const lists: ReadonlyMap<string, { readonly items: string; readonly changed: string; readonly filter: string }> =
  new Map([
    ['tools/list', { items: 'tools', changed: 'notifications/tools/list_changed', filter: 'toolsListChanged' }],
    ['prompts/list', { items: 'prompts', changed: 'notifications/prompts/list_changed', filter: 'promptsListChanged' }],
    [
      'resources/list',
      { items: 'resources', changed: 'notifications/resources/list_changed', filter: 'resourcesListChanged' },
    ],
    [
      'resources/templates/list',
      { items: 'resourceTemplates', changed: 'notifications/resources/list_changed', filter: 'resourcesListChanged' },
    ],
  ]);

/** The notification that a list has changed; undefined when the method asks for none. */
export function changedMethod(method: string): string | undefined {
  return lists.get(method)?.changed;
}

/** Tells whether a `subscriptions/listen` asked to be told of changes of this list. */
export function wantsChanges(listen: McpParams, method: string): boolean {
  return fieldsOf(listen['notifications'])[lists.get(method)?.filter ?? ''] === true;
}
