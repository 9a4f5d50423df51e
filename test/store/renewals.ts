import { expect } from 'vitest';
import type { TestSchema } from './startPostgres.ts';

/** Resolves when every node that lives was seen to renew its lease so often from now on. */
export async function renewals(ask: TestSchema['ask'], count: number, timeout = 60_000): Promise<void> {
  const seen = new Map<unknown, Set<unknown>>();
  const fewest = async (): Promise<number> => {
    const rows = await ask('SELECT id, seen_at::text AS at FROM uw.node WHERE expires_at > clock_timestamp()');
    for (const { id, at } of rows) seen.set(id, (seen.get(id) ?? new Set()).add(at));
    // The first one was before.
    return Math.min(...rows.map(({ id }) => (seen.get(id)?.size ?? 0) - 1));
  };
  await expect.poll(fewest, { interval: 100, timeout }).toBeGreaterThanOrEqual(count);
}
