/** Whether a store is named by the URL of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** The database as people are shown it: host, port, name and the schema that was named; never who signs in, nor with what. */
export function shownUrl(text: string): string {
  const url = parsed(text);
  const schema = url?.searchParams.get('schema');
  const named = schema === null || schema === undefined ? '' : `?schema=${encodeURIComponent(schema)}`;
  return `postgres://${url?.host || 'localhost'}${url?.pathname ?? '/'}${named}`;
}

/** The same with the schema, named or not. @param shown - as {@link shownUrl} gives it. */
export function shownSchema(shown: string, schema: string): string {
  return parsed(shown)?.searchParams.has('schema') === true ? shown : `schema ${schema} of ${shown}`;
}

/** What of a URL says where a database is, and how it is reached: nothing of it is secret. */
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

/** Undefined for what is no URL. The text itself goes into no message: it may hold a password. */
export function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
