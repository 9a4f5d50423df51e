/** A word of a command line: quoted for a POSIX shell where it needs that. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteShell(text);
}

/** A text as one word, in single quotes. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
