import type { Effect } from '../../src/policy/face.ts';

/** The protocol that a stream of a model is in: that of Anthropic's messages, of OpenAI's responses, of chat completions, or of Google's Gemini. */
export type Dialect = 'messages' | 'responses' | 'chat' | 'gemini';

/** Target of a request, as far as the proxy has to know. */
export interface Route {
  /** Undefined where no event of an answer means anything to us: it passes blind. */
  readonly dialect: Dialect | undefined;
  readonly effect: Effect;
  /** The pattern of its path, where it has a dialect. */
  readonly path: string | undefined;
  /** Names it in records; never holds an id or a query. */
  readonly label: string;
}

const dialects: readonly (readonly [shape: RegExp, dialect: Dialect, path: string])[] = [
  // A message of a thread of OpenAI's assistants is something else.
  [/(?<!\/threads\/[^/]+)\/messages$/, 'messages', '/messages'],
  [/\/responses$/, 'responses', '/responses'],
  [/\/chat\/completions$/, 'chat', '/chat/completions'],
  [/:streamGenerateContent$/, 'gemini', ':streamGenerateContent'],
];

/** Other requests that a model answers and that leave nothing behind. */
const harmless =
  /\/(?:messages\/count_tokens|responses\/(?:compact|input_tokens)|completions|embeddings|moderations|rerank)$|:generateContent$|:countTokens$/;

/** A model call counts as idempotent: asked twice it costs twice and does nothing. */
export function routeOf(method: string, url: string): Route {
  const path = url.split('?', 1)[0] ?? '/';
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')
    return { dialect: undefined, effect: 'readOnly', label: method, path: undefined };
  if (method === 'POST') {
    const [, dialect, known] = dialects.find(([shape]) => shape.test(path)) ?? [];
    if (dialect !== undefined) return { dialect, effect: 'idempotent', label: dialect, path: known };
    if (harmless.test(path)) return { dialect: undefined, effect: 'idempotent', label: 'model', path: undefined };
  }
  const effect = method === 'PUT' || method === 'DELETE' ? 'idempotent' : 'mutating';
  return { dialect: undefined, effect, label: knownMethods.has(method) ? method : 'other', path: undefined };
}

/** The model that a path names, where it can be named in records. */
export function modelOf(url: string): string | undefined {
  return /\/models\/([\w.-]{1,80}):/.exec(url)?.[1];
}

const knownMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
