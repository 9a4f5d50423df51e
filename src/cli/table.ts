import { fitText, textWidth } from '../policy/textWidth.ts';
import { sanitize } from './sanitize.ts';

/** How a column looks. */
export interface Column {
  readonly title: string;
  /** @defaultValue 'left' */
  readonly align?: 'left' | 'right' | undefined;
}

/** Text, or text with the paint it gets after it was fitted. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

const gap = '  ';
/** Narrower than this, a column says nothing; rows are then longer than the terminal. */
const leastWidth = 6;

/**
 * An aligned table, one line a row, that fits `width` columns by cutting the widest columns. Cells are sanitized, so that text of
 * children can be put in as it is; paint is applied after that. Without rows there is only the heading.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(cleanText))];
  const widths = fitWidths(
    columns.map((_, index) => Math.max(...lines.map((line) => textWidth(line[index] ?? '')))),
    width,
  );
  const text = lines.map((line, row) =>
    columns
      .map(({ align }, index) => {
        const fitted = fitText(line[index] ?? '', widths[index] ?? 0);
        const padding = ' '.repeat((widths[index] ?? 0) - textWidth(fitted));
        const cell = row === 0 ? undefined : rows[row - 1]?.[index];
        const painted = typeof cell === 'object' ? cell.paint(fitted) : fitted;
        return align === 'right' ? padding + painted : painted + padding;
      })
      .join(gap)
      .trimEnd(),
  );
  return `${text.join('\n')}\n`;
}

function cleanText(cell: Cell): string {
  return sanitize(typeof cell === 'object' ? cell.text : cell);
}

/** Takes what is too much from the widest column, one character at a time, so that narrow columns stay whole. */
function fitWidths(natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, each) => sum + each + gap.length, -gap.length) - width;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= leastWidth) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
    excess--;
  }
  return widths;
}
