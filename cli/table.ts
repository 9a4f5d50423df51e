import { fitName, fitText, textWidth, wrapWords } from '../src/policy/text/face.ts';
import { sanitize } from './sanitize.ts';

/** Form of a column. */
export interface Column {
  readonly title: string;
  /** @defaultValue 'left' */
  readonly align?: 'left' | 'right' | undefined;
  /** True where it holds names: two that differ are never cut to the same, even where rows get longer than the terminal. @defaultValue false */
  readonly hasNames?: boolean | undefined;
  /**
   * Rank of the column: the highest is left out first where there is no room. In a table with ranks figures are whole or left out, text keeps 20 characters,
   * and columns without a rank stay whole, names at least 24 characters. @defaultValue it stays
   */
  readonly rank?: number | undefined;
  /**
   * True where it holds ids, which are typed again: never cut, never left out. In the first column, one that is longer than half the terminal widens no other
   * row: it stands above its own. @defaultValue false
   */
  readonly hasIds?: boolean | undefined;
  /**
   * Puts a text that would be cut below its row, and all its texts where they would have less than 48 characters; `first`: already where another column would
   * have to be left out for it. @defaultValue false
   */
  readonly stacks?: boolean | 'first' | undefined;
  /** Title before its text below a row, where its heading is not seen. @defaultValue nothing */
  readonly belowTitle?: string | undefined;
  /** On how many lines its text is folded below a row at most; what is more is cut. @defaultValue 2 */
  readonly mostLines?: number | undefined;
}

/** Text, or text with the paint it gets after it was fitted. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

/** A column, and the cell in it of each row. */
export interface Field<T> extends Column {
  readonly cell: (row: T) => Cell;
}

/** A column of figures. */
export const figure = <T>(title: string, of: (row: T) => number | string, rank?: number): Field<T> => ({
  ...{ title, align: 'right', rank },
  cell: (row) => String(of(row)),
});

const gap = '  ';
/** Narrower than this, a column says nothing; rows are then longer than the terminal. */
const leastWidth = 6;
/** The same of text, and of names, in a table that leaves columns out. */
const usefulWidth = 20;
const usefulName = 24;
/** The same of text that could stand below its row. */
const usefulBeside = 48;
/** Before what stands below a row. */
const indent = '  ';
/** Lines that each text has there at most, unless its column says otherwise. */
const usualLines = 2;

/**
 * An aligned table that fits `width` columns: those with the highest ranks are left out, the widest are cut, and what stacks goes below its row,
 * at last all but the first. Cells are sanitized, so that text of children can be put in as it is; paint is applied after that. Without rows
 * there is only the heading.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): string {
  const whole = rows.map((row) => row.map(cleanText));
  const above = longIds(columns, whole, width);
  const texts = whole.map((line, index) => (above.has(index) ? ['', ...line.slice(1)] : line));
  const { widths, below: allBelow } = layout(columns, texts, width);
  // A text that would be cut, and may stand below its row, does so alone: those of other rows stay beside.
  const isTooLong = (line: readonly string[], index: number): boolean =>
    mayStack(columns[index]) && textWidth(line[index] ?? '') > (widths[index] ?? 0);
  const areTooLong = (at: number): boolean =>
    texts.some((line) => isTooLong(line, at)) && texts.every((line) => line[at] === '' || isTooLong(line, at));
  const below = new Set([...columns.keys()].filter((at) => allBelow.has(at) || areTooLong(at)));
  for (const at of below) widths[at] = 0;
  const beside = (line: readonly string[], row?: readonly Cell[]): string =>
    columns
      .flatMap(({ align, hasNames }, index) => {
        const room = widths[index] ?? 0;
        if (room === 0) return [];
        if (isTooLong(line, index)) return [' '.repeat(room)];
        const fitted = (hasNames === true ? fitName : fitText)(line[index] ?? '', room);
        const padding = ' '.repeat(room - textWidth(fitted));
        const cell = row?.[index];
        const painted = typeof cell === 'object' ? cell.paint(fitted) : fitted;
        return [align === 'right' ? padding + painted : painted + padding];
      })
      .join(gap)
      .trimEnd();
  const heading = beside(columns.map(({ title }) => title));
  const lines = texts.flatMap((line, index) => [
    ...(above.has(index) ? [whole[index]?.[0] ?? ''] : []),
    beside(line, rows[index]),
    ...[...columns.keys()]
      .filter((at) => below.has(at) || ((widths[at] ?? 0) > 0 && isTooLong(line, at)))
      .flatMap((at) => stacked(line[at] ?? '', columns[at] ?? { title: '' }, width)),
  ]);
  return `${[heading, ...lines].join('\n')}\n`;
}

/** {@link renderTable} by what its columns hold; one that is `false` is not there. */
export function tableOf<T>(
  rows: readonly T[],
  width: number,
  fields: readonly (Field<T> | false | undefined)[],
): string {
  const columns = fields.filter((each) => each !== false && each !== undefined);
  return renderTable(
    columns,
    rows.map((row) => columns.map(({ cell }) => cell(row))),
    width,
  );
}

/** The rows whose id would push those of all other rows out of the terminal: it stands on a line of its own, above the rest of its row. */
function longIds(
  columns: readonly Column[],
  texts: readonly (readonly string[])[],
  width: number,
): ReadonlySet<number> {
  if (columns[0]?.hasIds !== true || totalOf(naturalWidths(columns, texts)) <= width) return new Set();
  const longer = (than: number): readonly number[] =>
    [...texts.keys()].filter((at) => textWidth(texts[at]?.[0] ?? '') > than);
  const long = longer(width / 2);
  // If all are long, nobody is spared by that unless there is room for nothing else.
  return new Set(long.length < texts.length ? long : longer(width));
}

function naturalWidths(columns: readonly Column[], texts: readonly (readonly string[])[]): number[] {
  return columns.map(({ title }, index) =>
    Math.max(textWidth(title), ...texts.map((line) => textWidth(line[index] ?? ''))),
  );
}

/** A text below its row. An id is whole there too, and a name keeps its end. */
function stacked(text: string, column: Column, width: number): readonly string[] {
  const { hasIds, hasNames, belowTitle = '', mostLines } = column;
  if (text === '') return [];
  if (hasIds === true) return [indent + text];
  if (hasNames === true) return [indent + fitName(text, Math.max(leastWidth, width - indent.length))];
  return textBelow(belowTitle + text, width, mostLines);
}

/** A text below a line that has no room for it. @param mostLines - on which it is folded. @defaultValue 2 */
export function textBelow(text: string, width: number, mostLines = usualLines): readonly string[] {
  const room = Math.max(leastWidth, width - indent.length);
  const lines = wrapWords(text, room).flatMap((line) => pieces(line, room));
  const kept = [...lines.slice(0, mostLines - 1), lines.slice(mostLines - 1).join(' ')];
  return kept.filter((line) => line !== '').map((line) => indent + fitText(line, room));
}

/** A line as it is where it fits, and else its one long word in pieces that do. */
function pieces(line: string, room: number): readonly string[] {
  if (textWidth(line) <= room) return [line];
  const all = [''];
  for (const char of line) {
    const piece = all.pop() ?? '';
    if (textWidth(piece + char) <= room) all.push(piece + char);
    else all.push(piece, char);
  }
  return all;
}

/** Layout of columns: how wide each is, 0 for one that is not there, and which stand below their row. */
interface Layout {
  readonly widths: number[];
  readonly below: ReadonlySet<number>;
}

function layout(columns: readonly Column[], texts: readonly (readonly string[])[], width: number): Layout {
  const natural = naturalWidths(columns, texts);
  if (totalOf(natural) <= width) return { widths: natural, below: new Set() };
  const isRanked = columns.some((column) => column.rank !== undefined || mayStack(column));
  const least = columns.map((column, index) => {
    const most = natural[index] ?? 0;
    if (column.hasIds === true) return most;
    const useful = isRanked ? usefulOf(column, most) : leastWidth;
    if (column.hasNames !== true) return useful;
    return Math.max(useful, widthOfNames(new Set(texts.map((line) => line[index] ?? '')), most));
  });
  const without = (wide: readonly number[], gone: ReadonlySet<number>): number[] =>
    wide.map((each, index) => (gone.has(index) ? 0 : each));
  const fits = (gone: ReadonlySet<number>): boolean => totalOf(without(least, gone)) <= width;

  const stacking = [...columns.keys()].filter((index) => mayStack(columns[index]));
  const early = stacking.filter((index) => columns[index]?.stacks === 'first');
  let out = leftOut(columns, least, width);
  let below = new Set<number>();
  if (early.length > 0 && out.size > 0) {
    below = new Set(early);
    out = leftOut(columns, without(least, below), width);
  }
  if (!fits(new Set([...out, ...below])) && isRanked) {
    // From the right: what comes first says what the row is about.
    const others = [...columns.keys()].filter(
      (at) => at > 0 && columns[at]?.rank === undefined && !stacking.includes(at),
    );
    const moves = stacking.length === 0 ? others.toReversed() : [undefined, ...others.toReversed()];
    below = new Set(stacking);
    for (const index of moves) {
      if (index !== undefined) below.add(index);
      out = leftOut(columns, without(least, below), width);
      if (fits(new Set([...out, ...below]))) break;
    }
  }
  const gone = new Set([...out, ...below]);
  return { widths: fitWidths(natural, least, width, gone), below };
}

function cleanText(cell: Cell): string {
  return sanitize(typeof cell === 'object' ? cell.text : cell);
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, each) => (each === 0 ? sum : sum + each + gap.length), -gap.length);
}

const mayStack = (column: Column | undefined): boolean => column?.stacks === true || column?.stacks === 'first';

function usefulOf(column: Column, most: number): number {
  const { align, hasNames = false, rank } = column;
  if (mayStack(column)) return Math.min(most, usefulBeside);
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
    if (least[index] === 0) continue;
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
