/** A text of SQL in which `uw.` and `uw_schema` stand for our schema. @param schema - a name that {@link readTarget} has checked. */
export function inSchema(text: string, schema: string): string {
  const name = `"${schema}"`;
  return text.replaceAll('uw_schema', name).replaceAll(/\buw\./g, `${name}.`);
}
