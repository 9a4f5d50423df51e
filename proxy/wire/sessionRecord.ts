import type { Effect } from '../../src/policy/face.ts';
import {
  type McpParams,
  type McpRequest,
  type ToolAnnotations,
  annotatedEffect,
  fieldsOf,
  isModern,
  sizeCharsOf,
  valueAt,
} from '../../src/protocol/mcp/face.ts';
import { createListRecord } from './listRecord.ts';

/** A request that a new server has to be sent before it is as the old one was. */
export interface Replayed {
  readonly method: string;
  readonly params: McpParams;
}

/** Greeting of a new server: by the handshake of the client, by a request of the stateless era, or not at all. */
type Greeting =
  | { readonly era: 'legacy'; readonly initialize: Replayed }
  | { readonly era: 'modern'; readonly discover: Replayed }
  | { readonly era: 'unknown' };

/** Record of what the client and its server have agreed on, so that another server can take the place of this one. */
export type SessionRecord = ReturnType<typeof createSessionRecord>;

/** Subscriptions that are restored; one more is not. */
const mostSubscriptions = 10_000;

export function createSessionRecord() {
  const lists = createListRecord();
  const tools = createToolEffects();
  const subscriptions = new Set<string>();
  let initialize: McpParams | undefined;
  let handshake: McpParams | undefined;
  let initialized = false;
  let logLevel: McpParams | undefined;
  /** The `_meta` of the client's last request without a handshake. */
  let meta: McpParams | undefined;
  let isModernAnswered = false;

  const begin = (params: McpParams, result: McpParams): void => {
    initialize = params;
    handshake = result;
    initialized = false;
    logLevel = undefined;
    isModernAnswered = false;
    subscriptions.clear();
    lists.clear();
  };

  return {
    lists,
    tools,
    /** True once the client was given service: a handshake is over, or a request without one was answered. */
    get established(): boolean {
      return handshake !== undefined || isModernAnswered;
    },
    /** True once the client has said that it is ready (`notifications/initialized`). */
    get initialized(): boolean {
      return initialized;
    },
    /** Uris the client is subscribed to, before 2026-07-28. */
    get subscriptions(): readonly string[] {
      return [...subscriptions];
    },
    /** The answer to the client's handshake, while there is one. */
    get handshake(): McpParams | undefined {
      return handshake;
    },
    /** Request for a sign of life of the server, in the words of its era: the stateless one has no ping. */
    get lifeSign(): Replayed {
      // A client that shook no hands may have a call under way before anything was answered.
      const isModernEra = isModernAnswered || (initialize === undefined && meta !== undefined);
      return isModernEra ? { method: 'server/discover', params: { _meta: meta } } : { method: 'ping', params: {} };
    },
    /** Parameters that every request of ours has to carry: nothing before 2026-07-28. */
    get requestParams(): McpParams {
      return isModernAnswered ? { _meta: meta } : {};
    },
    get greeting(): Greeting {
      if (isModernAnswered) {
        return { era: 'modern', discover: { method: 'server/discover', params: { _meta: meta } } };
      }
      if (initialize === undefined) return { era: 'unknown' };
      // The version both sides agreed on: the client has been speaking it since.
      const agreed = handshake?.['protocolVersion'] ?? initialize['protocolVersion'];
      const params = { ...initialize, protocolVersion: agreed };
      return { era: 'legacy', initialize: { method: 'initialize', params } };
    },
    /** The client sent a request. */
    asked({ method, params }: Pick<McpRequest, 'method' | 'params'>): void {
      // Kept also when it fails: a client that goes on as if it had not is served by the next server that starts.
      if (method === 'initialize' && handshake === undefined) initialize = params;
      else if (isModern(params)) {
        const { progressToken: _, ...kept } = fieldsOf(params['_meta']);
        meta = kept;
      }
    },
    noteInitialized(): void {
      initialized = true;
    },
    /** A request of the client was answered with a result. */
    answered({ method, params }: Pick<McpRequest, 'method' | 'params'>, result: McpParams): void {
      if (method === 'initialize') begin(params, result);
      else if (isModern(params)) isModernAnswered = true;
      if (method === 'logging/setLevel') logLevel = params;
      else if (method === 'tools/list') tools.learn(params, result);
      lists.note(method, params, result);
      const { uri } = params;
      if (typeof uri !== 'string') return;
      if (method === 'resources/subscribe' && subscriptions.size < mostSubscriptions) subscriptions.add(uri);
      else if (method === 'resources/unsubscribe') subscriptions.delete(uri);
    },
    /** Drops what was agreed on: the next server is greeted in the client's own words, as after a handshake that failed. */
    forget(): void {
      handshake = undefined;
      isModernAnswered = false;
      lists.clear();
    },
    restoring: (): readonly Replayed[] => [
      ...(logLevel === undefined ? [] : [{ method: 'logging/setLevel', params: logLevel }]),
      ...[...subscriptions].map((uri) => ({ method: 'resources/subscribe', params: { uri } })),
    ],
    /** Finds what a new server says of itself that the client was told otherwise: names of the fields. */
    differences(result: McpParams): readonly string[] {
      if (handshake === undefined) return [];
      const told = handshake;
      return ['protocolVersion', 'capabilities', 'serverInfo'].filter(
        (field) => JSON.stringify(told[field] ?? null) !== JSON.stringify(result[field] ?? null),
      );
    },
  };
}

/** Tells whether a result of `server/discover` is one of a server of the stateless era. */
export function isDiscovered(result: McpParams | undefined): boolean {
  return Array.isArray(fieldsOf(result)['supportedVersions']);
}

/** Tools that are remembered; a server has dozens. */
const mostTools = 10_000;

/** Effects of the server's tools on the world, as far as their annotations say, and what they say of tasks. */
function createToolEffects() {
  const known = new Map<string, { effect: Effect | undefined; support: unknown; sizeChars: number | undefined }>();
  return {
    /** Learns from a page of `tools/list`; the first page of a list replaces what was known. */
    learn({ cursor }: McpParams, { tools }: McpParams): void {
      if (cursor === undefined) known.clear();
      if (!Array.isArray(tools)) return;
      for (const tool of tools.map(fieldsOf)) {
        const { name } = tool;
        const effect = annotatedEffect(fieldsOf(tool['annotations']) as ToolAnnotations);
        const support = valueAt(tool, ['execution', 'taskSupport']);
        if (typeof name !== 'string' || known.size >= mostTools) continue;
        known.set(name, { effect, support, sizeChars: sizeCharsOf(tool) });
      }
    },
    /** Undefined when the tool is unknown or says nothing. */
    of: (tool: string): Effect | undefined => known.get(tool)?.effect,
    taskSupportOf: (tool: string): unknown => known.get(tool)?.support,
    sizeCharsOf: (tool: string): number | undefined => known.get(tool)?.sizeChars,
  };
}
