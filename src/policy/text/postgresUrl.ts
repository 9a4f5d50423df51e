/** Tells whether a store is named by the URL of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** The database as people are shown it: host, port, name and the schema that was named; never who signs in, nor with what. */
export function shownUrl(text: string): string {
  const url = parsed(text);
  const schema = url?.searchParams.get('schema');
  const named = schema === null || schema === undefined ? '' : `?schema=${encodeURIComponent(schema)}`;
  // No host was read: none is named.
  if (url === undefined) return 'postgres://…';
  return `postgres://${url.host || 'localhost'}${url.pathname}${named}`;
}

/** The same with the schema, named or not. @param shown - as {@link shownUrl} gives it. */
export function shownSchema(shown: string, schema: string): string {
  return parsed(shown)?.searchParams.has('schema') === true ? shown : `schema ${schema} of ${shown}`;
}

/** Parts of a URL that say where a database is, and how it is reached: nothing of them is secret. */
const ofPlace: ReadonlySet<string> = new Set(['schema', 'host', 'port', 'sslmode', 'prepare', 'leaseMs', 'direct']);

/** The URL without user and password, for a command that is shown: who runs it signs in by PGUSER and PGPASSWORD. */
export function withoutSignIn(text: string): string {
  const url = parsed(text);
  if (url === undefined) return shownUrl(text);
  for (const name of [...url.searchParams.keys()]) if (!ofPlace.has(name)) url.searchParams.delete(name);
  if (parsed(url.searchParams.get('direct') ?? '') !== undefined) url.searchParams.delete('direct');
  const { search } = url;
  return `postgres://${url.host || 'localhost'}${url.pathname}${search}`;
}

/** Form of a URL, and what keeps one from being read most often. */
export const urlForm =
  'a URL like postgres://USER@HOST/DATABASE; in a password write %23 for #, %3F for ?, %2F for /, %40 for @ and %25 for %';

/**
 * Undefined for what is no URL, or what ends in the middle of a password: the rest of that would be taken for the name of a database. The text
 * itself goes into no message: it may hold a password.
 */
export function parsed(text: string): URL | undefined {
  try {
    const url = new URL(text);
    return isCut(url) ? undefined : url;
  } catch {
    return undefined;
  }
}

/** Tells whether the @ before the host stands behind a /, a ? or a #, which end user and password. */
function isCut({ hash, pathname, search }: URL): boolean {
  return hash !== '' || pathname.includes('@') || /^\?[^=&]*@/.test(search);
}
