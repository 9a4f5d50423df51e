import { isPostgresUrl, withoutSignIn } from './postgresUrl.ts';
import { sanitize } from './sanitize.ts';

/**
 * A command of `unwedge` about a name, as people copy it: `unwedge why kb --db FILE`. A name that begins with a dash stands behind `--`, so that it is
 * no option. One that cannot be shown as it is would not be found: `unwedge status --json` has it in full.
 * @param db - as `dbWords` gives it.
 */
export function commandAbout(command: string, name: string, db: string): string {
  if (sanitize(name) !== name) return `unwedge status --json${db}`;
  const word = shellWord(name);
  return name.startsWith('-') ? `unwedge ${command}${db} -- ${word}` : `unwedge ${command} ${word}${db}`;
}

/** An option with its value, with a space before it: ` --integration kb`. Empty where the value cannot be shown as it is. */
export function optionWords(option: string, value: string): string {
  if (sanitize(value) !== value) return '';
  return value.startsWith('-') ? ` --${option}=${shellWord(value)}` : ` --${option} ${shellWord(value)}`;
}

/** A word of a command line: quoted for a POSIX shell where it needs that. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteShell(text);
}

/** A text as one word, in single quotes. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** `--db` for a command that is shown, so that it looks at the same database; empty where none was given. Of a URL never who signs in, nor with what. */
export function dbWords(db: string | undefined): string {
  return db === undefined ? '' : optionWords('db', sanitize(isPostgresUrl(db) ? withoutSignIn(db) : db));
}
