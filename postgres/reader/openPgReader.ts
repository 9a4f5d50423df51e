import { StoreUnavailableError } from '../../src/store/face.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import { importPg } from '../pgDriver.ts';
import { knownVersion, schemaHere, schemaVersion } from '../pgSchema.ts';
import { type PgTarget, readTarget } from '../pgTarget.ts';
import { diagnosePg, NewerPgSchemaError } from '../pgTrouble.ts';
import { PgReader } from './pgReader.ts';
import { type Ask, PgReads } from './pgReads.ts';

/** Connections by the URL they are made with: who looks again and again needs no new one each time. They end by themselves. */
const open = new Map<string, PgReads>();

/**
 * Opens a schema of a PostgreSQL database for reading; nothing is created or changed.
 * @param url - with its password, which nothing tells.
 * @param load - gives the package `pg`.
 * @throws an Error that names the database, without user and password, and what to do when there is nothing to read.
 */
export async function openPgReader(url: string, load = importPg): Promise<StoreReader> {
  const target = readTarget(url);
  const reads = await connected(target, load);
  const ask: Ask = async (text, values, size) => {
    try {
      return await reads.ask(text, values, size);
    } catch (error) {
      throw readable(error, target);
    }
  };
  return new PgReader(target, await look(ask, target), ask, load);
}

async function connected(target: PgTarget, load: typeof importPg): Promise<PgReads> {
  const { connectionString, schema, shown } = target;
  const key = `${schema} ${connectionString}`;
  const known = open.get(key);
  if (known !== undefined) return known;
  try {
    const made = open.get(key) ?? new PgReads(await load(shown), target);
    open.set(key, made);
    return made;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new Error(`Cannot read ${error.reason}. Fix: ${error.fix}`, { cause: error });
  }
}

/** @returns by what the schema is known from one that is made anew under its name. @throws an Error where there is nothing to read. */
async function look(ask: Ask, { shown, schema }: PgTarget): Promise<string> {
  const [here] = await ask(schemaHere.text, [], 'small');
  if (here?.['known'] !== true) {
    throw new Error(
      `${shown} has no tables of unwedge in schema ${schema}: no gateway has used it yet. One with this database as its \`store\` makes them`,
    );
  }
  const [found] = await ask(schemaVersion.text, [], 'small');
  const version = Number(found?.['version'] ?? 0);
  if (version > knownVersion + 1) throw readable(new NewerPgSchemaError(version, knownVersion), { shown });
  if (version < knownVersion) {
    throw new Error(
      `${shown}: the schema has version ${version}, this version of unwedge reads ${knownVersion}. Fix: start a gateway of this version on it, which brings it up to date`,
    );
  }
  const [row] = await ask(`SELECT 'uw.event'::regclass::oid AS id`, [], 'small');
  return `${shown} ${schema} ${String(row?.['id'])}`;
}

/** In words for people; the server names who signs in, and never a password. */
function readable(error: unknown, { shown }: Pick<PgTarget, 'shown'>): Error {
  const { reason, fix } = diagnosePg(error, shown);
  const isForbidden = (error as { readonly code?: unknown } | null)?.code === '42501';
  const mended = isForbidden ? 'grant the user USAGE on the schema and SELECT on its tables' : fix;
  return new Error(`Cannot read ${reason}. Fix: ${mended}`, { cause: error });
}
