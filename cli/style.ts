import type { Io } from './io.ts';

type Paint = (text: string) => string;

/** Colours for people; every one leaves the text as it is when colours are off. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
}

/** Colours on a terminal that has them, unless `NO_COLOR` is set. */
export function createStyle({ isTTY, env }: Pick<Io, 'isTTY' | 'env'>): Style {
  const on = isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const paint =
    (start: number, end: number): Paint =>
    (text) =>
      on ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return { bold: paint(1, 22), dim: paint(2, 22), red: paint(31, 39), green: paint(32, 39), yellow: paint(33, 39) };
}
