import { parsed, show, shownUrl, urlForm } from '../src/policy/text/face.ts';

/** Way to a database, and what of it is ours. */
export interface PgTarget {
  /** With its password: for the driver alone. */
  readonly connectionString: string;
  /** The same of the server itself, for what a pooler does not pass; undefined where there is no such way. */
  readonly direct: string | undefined;
  /** For people: without user and password. */
  readonly shown: string;
  /** The schema that holds our tables. */
  readonly schema: string;
  /**
   * True where statements are prepared by name: a PgBouncer in transaction mode knows them where its `max_prepared_statements` is not 0, as it is by default
   * before 1.24.
   */
  readonly prepares: boolean;
  /** Time that a session stays its owner's after the last renewal, in ms. */
  readonly leaseMs: number;
}

/** Short enough for a take-over within 3 s, and three times the interval of renewal. */
const defaultLeaseMs = 2_500;

/**
 * Reads the URL of a store: that of the database, with `schema` (@defaultValue unwedge), `prepare` (`false` for a PgBouncer before 1.24 without `max_prepared_statements`), `leaseMs`
 * (@defaultValue 2500) and `direct` (`HOST:PORT` of the server where the URL is that of a pooler, `false` where it cannot be reached) beside what `pg`
 * takes.
 * @throws RangeError that names the part and its value, never the URL.
 */
export function readTarget(url: string): PgTarget {
  const read = parsed(url);
  if (read === undefined) throw new RangeError(`Expected \`store\` to be ${urlForm}`);
  const { searchParams } = read;
  const schema = searchParams.get('schema') ?? 'unwedge';
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new RangeError(`Expected \`schema\` of the \`store\` to be a lower-case name, got ${show(schema)}`);
  }
  const prepare = searchParams.get('prepare') ?? 'true';
  if (prepare !== 'true' && prepare !== 'false') {
    throw new RangeError(`Expected \`prepare\` of the \`store\` to be true or false, got ${show(prepare)}`);
  }
  const leaseMs = Number(searchParams.get('leaseMs') ?? defaultLeaseMs);
  if (!Number.isInteger(leaseMs) || leaseMs < 300 || leaseMs > 600_000) {
    throw new RangeError(`Expected \`leaseMs\` of the \`store\` to be an integer from 300 to 600000, got ${leaseMs}`);
  }
  const direct = searchParams.get('direct');
  for (const own of ['schema', 'prepare', 'leaseMs', 'direct']) searchParams.delete(own);
  return {
    connectionString: read.href,
    direct: directOf(read, direct),
    shown: shownUrl(url),
    schema,
    prepares: prepare === 'true',
    leaseMs,
  };
}

/** The URL of the server itself. @throws RangeError */
function directOf(url: URL, direct: string | null): string | undefined {
  if (direct === null) return url.href;
  if (direct === 'false') return undefined;
  const [, host = '', port = ''] = /^([^@/?#]+):(\d{1,5})$/.exec(direct) ?? [];
  const server = new URL(url.href);
  server.hostname = host;
  server.port = port;
  if (host === '' || server.port !== port) {
    throw new RangeError(`Expected \`direct\` of the \`store\` to be HOST:PORT or false, got ${show(direct)}`);
  }
  return server.href;
}

/** A text of SQL in which `uw.` and `uw_schema` stand for our schema. @param schema - a name that {@link readTarget} has checked. */
export function inSchema(text: string, schema: string): string {
  const name = `"${schema}"`;
  return text.replaceAll('uw_schema', name).replaceAll(/\buw\./g, `${name}.`);
}
