import { type McpAnswer, type McpParams, lists } from '../../src/protocol/mcp/face.ts';
import { textHash } from '../../src/protocol/face.ts';

/** Pages kept of one list; what comes after them is not compared. */
const mostPages = 100;

/** A page of a list as the client saw it. */
export interface SeenPage {
  readonly digest: string;
  /** The cursor of the next page; undefined when it was the last. */
  readonly next: string | undefined;
}

/** Record of what the client has seen of the server's lists, so that a new server's can be compared with it. */
export function createListRecord() {
  const seen = new Map<string, SeenPage[]>();
  return {
    note(method: string, params: McpParams, result: McpParams): void {
      if (!lists.has(method)) return;
      const page = pageOf(method, result);
      const { cursor } = params;
      const known = seen.get(method);
      if (cursor === undefined) seen.set(method, [page]);
      // A page out of turn belongs to no list that could be asked for again.
      else if (known !== undefined && known.length < mostPages && known.at(-1)?.next === cursor) known.push(page);
    },
    get methods(): readonly string[] {
      return [...seen.keys()];
    },
    pages: (method: string): readonly SeenPage[] => seen.get(method) ?? [],
    clear: () => seen.clear(),
  };
}

/** Returns what is compared of the answer to a list. */
export function pageOf(method: string, result: McpParams): SeenPage {
  const items = result[lists.get(method)?.items ?? ''];
  const next = result['nextCursor'];
  return { digest: textHash(JSON.stringify(items ?? null)), next: typeof next === 'string' ? next : undefined };
}

/** Says why an answer that is remembered, that of a greeting or a list, can be neither compared nor written anew: JSON is made of what nests less deep than what may be read. */
export function keptFlaw(method: string, { result }: McpAnswer): string | undefined {
  try {
    if (lists.has(method) || method === 'initialize' || method === 'server/discover') JSON.stringify(result);
    return undefined;
  } catch {
    return 'it nests too deep';
  }
}

/** Tells whether a request of this method asks for a list. */
export function isListMethod(method: string): boolean {
  return lists.has(method);
}
