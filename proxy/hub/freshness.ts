import type { McpParams } from '../../src/protocol/mcp/message.ts';

/** Time that what a server said is good for, and whether for everybody: the stateless era wants both of whatever may be kept. */
export interface Freshness {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

/** Reads what a result says of itself. A result that says nothing, or nonsense, is good for now and for who asked. */
export function freshnessOf({ ttlMs, cacheScope }: McpParams): Freshness {
  const isTime = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0;
  return { ttlMs: isTime ? ttlMs : 0, cacheScope: cacheScope === 'public' ? 'public' : 'private' };
}

/** Merges what several are good for into one: no longer than the shortest of them, and for nobody for whom one of them is not. */
export function mergedFreshness(all: readonly Freshness[]): Freshness {
  if (all.length === 0) return freshnessOf({});
  const isPublic = all.every(({ cacheScope }) => cacheScope === 'public');
  return { ttlMs: Math.min(...all.map(({ ttlMs }) => ttlMs)), cacheScope: isPublic ? 'public' : 'private' };
}
