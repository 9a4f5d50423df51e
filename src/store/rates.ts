import type { RateGrant, RateLevels, RateOrder } from '../policy/rateLimit.ts';

/**
 * Buckets of rate limits, for all processes that share the store. On the hot path, but not with every call: who asks takes a share in advance.
 * Nothing here throws.
 */
export interface RateStates {
  /**
   * Takes from a bucket, in one transaction of its own. A bucket that is not known yet is full. Undefined when the store cannot answer now: then
   * the process goes on with what it knows.
   * @param wallNow - wall time in ms.
   */
  draw(key: string, order: RateOrder, wallNow: number): RateGrant | undefined;
  /** Keeps what was told and spent, with the commit of this turn; takes nothing. What the same process draws before that is bound by it. */
  note(key: string, order: RateOrder, wallNow: number): void;
}

/** A bucket that nobody asked for since is forgotten after so long, in ms: it is full. */
export const forgetRatesMs = 7 * 24 * 3_600_000;

/** The name of a bucket. Keys may be made of what must not be kept, credentials above all: a store has their hashes. Loaded late, for short runs need none. */
export function bucketOf(key: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(key).digest('hex');
}

/** The levels in a JSON text. A row that somebody damaged is a bucket that is not known. */
export function levelsIn(text: string): RateLevels | undefined {
  try {
    const levels: unknown = JSON.parse(text);
    if (typeof levels !== 'object' || levels === null) return undefined;
    return Object.values(levels).every(isPair) ? (levels as RateLevels) : undefined;
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { own, told } = value as Record<string, unknown>;
  return (own === undefined || isLevel(own, [])) && (told === undefined || isLevel(told, ['limit']));
}

const optional = ['perMs', 'fullAt', 'taken'];

function isLevel(value: unknown, needed: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const figures = value as Record<string, unknown>;
  return (
    ['level', 'at', ...needed].every((name) => Number.isFinite(figures[name])) &&
    optional.every((name) => figures[name] === undefined || Number.isFinite(figures[name]))
  );
}
