import { isPostgresUrl, withoutSignIn } from './postgresUrl.ts';
import { sanitize } from './sanitize.ts';
import { optionWords } from './shownCommand.ts';

/** `--db` for a command that is shown, so that it looks at the same database; empty where none was given. Of a URL never who signs in, nor with what. */
export function dbWords(db: string | undefined): string {
  return db === undefined ? '' : optionWords('db', sanitize(isPostgresUrl(db) ? withoutSignIn(db) : db));
}
