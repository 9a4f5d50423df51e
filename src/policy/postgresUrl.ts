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

/** Undefined for what is no URL. The text itself goes into no message: it may hold a password. */
export function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
