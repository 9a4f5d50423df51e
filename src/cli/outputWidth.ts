/** Width of a terminal that does not say how wide it is. */
const usualColumns = 80;

/**
 * Returns the most width of text written to a stream, in characters: as its terminal says, or where it is none, as the environment variable COLUMNS says.
 * @returns undefined for no limit: no terminal, and no COLUMNS that is a whole number above 0.
 */
export function outputWidth(
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  { COLUMNS: given = '' }: Readonly<Record<string, string | undefined>>,
): number | undefined {
  // Some terminals say 0 when they do not know.
  if (isTTY) return columns || usualColumns;
  return /^[1-9]\d{0,5}$/.test(given) ? Number(given) : undefined;
}
