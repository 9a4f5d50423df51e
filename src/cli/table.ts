import { fitName, fitText, textWidth } from '../policy/textWidth.ts';
import { sanitize } from './sanitize.ts';

/** How a column looks. */
export interface Column {
  readonly title: string;
  /** @defaultValue 'left' */
  readonly align?: 'left' | 'right' | undefined;
  /** Whether it holds names: two that differ are never cut to the same, even where rows get longer than the terminal. @defaultValue false */
  readonly hasNames?: boolean | undefined;
  /**
   * Where there is no room, the column of the highest rank is left out first. In a table with ranks figures are whole or left out, text
   * keeps 20 characters, and columns without a rank stay whole, names at least 24 characters. @defaultValue it stays
   */
  readonly rank?: number | undefined;
}

/** Text, or text with the paint it gets after it was fitted. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

const gap = '  ';
/** Narrower than this, a column says nothing; rows are then longer than the terminal. */
const leastWidth = 6;
/** The same of text, and of names, in a table that leaves columns out. */
const usefulWidth = 20;
const usefulName = 24;

/**
 * An aligned table, one line a row, that fits `width` columns by leaving out those with the highest ranks and cutting the widest ones. Cells
 * are sanitized, so that text of children can be put in as it is; paint is applied after that. Without rows there is only the heading.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(cleanText))];
  const natural = columns.map((_, index) => Math.max(...lines.map((line) => textWidth(line[index] ?? ''))));
  const isWide = totalOf(natural) > width;
  const isRanked = columns.some(({ rank }) => rank !== undefined);
  const least = columns.map((column, index) => {
    const most = natural[index] ?? 0;
    const useful = isRanked ? usefulOf(column, most) : leastWidth;
    if (column.hasNames !== true || !isWide) return useful;
    return Math.max(useful, widthOfNames(new Set(lines.slice(1).map((line) => line[index] ?? '')), most));
  });
  const widths = fitWidths(natural, least, width, leftOut(columns, least, width));
  const text = lines.map((line, row) =>
    columns
      .map(({ align, hasNames }, index) => {
        if (widths[index] === 0) return undefined;
        const fitted = (hasNames === true ? fitName : fitText)(line[index] ?? '', widths[index] ?? 0);
        const padding = ' '.repeat((widths[index] ?? 0) - textWidth(fitted));
        const cell = row === 0 ? undefined : rows[row - 1]?.[index];
        const painted = typeof cell === 'object' ? cell.paint(fitted) : fitted;
        return align === 'right' ? padding + painted : painted + padding;
      })
      .filter((cell) => cell !== undefined)
      .join(gap)
      .trimEnd(),
  );
  return `${text.join('\n')}\n`;
}

function cleanText(cell: Cell): string {
  return sanitize(typeof cell === 'object' ? cell.text : cell);
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, each) => (each === 0 ? sum : sum + each + gap.length), -gap.length);
}

function usefulOf({ align, hasNames = false, rank }: Column, most: number): number {
  if (hasNames) return Math.min(most, usefulName);
  return align === 'right' || rank === undefined ? most : Math.min(most, usefulWidth);
}

/** The columns that there is no room for, by their places. */
function leftOut(columns: readonly Column[], least: readonly number[], width: number): ReadonlySet<number> {
  const out = new Set<number>();
  const byRank = [...columns.keys()]
    .filter((index) => columns[index]?.rank !== undefined)
    .sort((one, other) => (columns[other]?.rank ?? 0) - (columns[one]?.rank ?? 0));
  for (const index of byRank) {
    if (totalOf(least.map((each, at) => (out.has(at) ? 0 : each))) <= width) break;
    out.add(index);
  }
  return out;
}

/** The least width in which names are told apart. @param most - in which they are whole. */
function widthOfNames(names: ReadonlySet<string>, most: number): number {
  for (let width = leastWidth; width < most; width++)
    if (new Set([...names].map((name) => fitName(name, width))).size === names.size) return width;
  return most;
}

/** Takes what is too much from the widest column that has more than its least, one character at a time, so that narrow columns stay whole. */
function fitWidths(
  natural: readonly number[],
  least: readonly number[],
  width: number,
  out: ReadonlySet<number>,
): number[] {
  const widths = natural.map((each, index) => (out.has(index) ? 0 : each));
  let excess = totalOf(widths) - width;
  while (excess > 0) {
    const spare = widths.map((each, index) => (each > (least[index] ?? 0) ? each : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    widths[spare.lastIndexOf(widest)] = widest - 1;
    excess--;
  }
  return widths;
}
