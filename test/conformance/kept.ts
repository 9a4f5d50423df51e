import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { type Cell, cellName } from './cell.ts';
import type { Seen } from './round.ts';

/** Row of a run in several parts: of a way without faults, or of one run under a fault. */
export type KeptRow = { readonly way: string; readonly seen: Seen } | { readonly cell: Cell };

export interface Kept {
  /** Verdicts of a way without a fault. */
  seen(way: string): Seen | undefined;
  cell(name: string): Cell | undefined;
  keep(row: KeptRow): void;
}

/** Keeps what is seen in a file, a line of JSON each, so that the next command goes on where this one ended. */
export function keptIn(file: string): Kept {
  const seen = new Map<string, Seen>();
  const cells = new Map<string, Cell>();
  const take = (row: KeptRow): void => {
    if ('cell' in row) cells.set(cellName(row.cell), row.cell);
    else seen.set(row.way, row.seen);
  };
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  for (const line of lines) if (line !== '') take(JSON.parse(line) as KeptRow);
  return {
    seen: (way) => seen.get(way),
    cell: (name) => cells.get(name),
    keep(row) {
      take(row);
      appendFileSync(file, `${JSON.stringify(row)}\n`);
    },
  };
}
