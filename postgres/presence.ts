/** The first key of every presence: of those of our schema. */
const schemaKey = "hashtext('unwedge uw_schema')";

/** The two keys of the lock that is the presence of a runtime. @param runtime - an expression of SQL, of its id. */
export function presenceKey(runtime: string): string {
  return `${schemaKey}, hashtext(${runtime})`;
}

/**
 * The runtimes whose presence is held, as `present`: a common table expression, which is read once, and only where it is asked. It looks at the
 * locks rather than trying them: a lock that is tried is held for a moment, and its owner may ask for it in this moment.
 */
export const presenceKeys = `present AS MATERIALIZED (
      SELECT (CASE WHEN objid::bigint >= 2147483648 THEN objid::bigint - 4294967296 ELSE objid::bigint END)::integer AS runtime
      FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint = ${schemaKey}::bigint & 4294967295)`;
