import { createHash } from 'node:crypto';
import type { ShapeCall } from '../shape.ts';

const start = Date.UTC(2026, 10, 30, 9, 0, 0);

/** Time of a round: each is some 37 s after the one before. */
export const at = (round: number): Date => new Date(start + round * 37_411);
export const iso = (round: number): string => at(round).toISOString();

/** Hexadecimal digits that look like chance, the same in each run. */
export const hex = (round: number, length: number): string =>
  createHash('sha512').update(`round ${round}`).digest('hex').slice(0, length);

export const uuid = (round: number): string => {
  const digits = hex(round, 32);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join('-');
};

/** Whole number below `limit` that looks like chance. */
export const chance = (round: number, limit: number): number => Number.parseInt(hex(round, 8), 16) % limit;

/** A call that answers a value that is no text. */
export const gives = (tool: string, input: unknown, value: unknown): ShapeCall => ({ tool, input, value });

/** Declaration of one tool as a read. */
export const reads = (tool: string) => ({ tools: { [tool]: { effect: 'readOnly' as const } } });

/** Other work of a session: each call is made once, and answers something of its own. */
export const otherWork = (index: number): ShapeCall => ({
  tool: ['view_issue', 'open_url', 'run_sql', 'list_objects'][index % 4] ?? 'view_issue',
  input: { number: 4_000 + index },
  text: `Entry ${4_000 + index}: ${hex(index + 900, 24)}`,
});
