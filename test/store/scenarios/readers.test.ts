import { describe } from 'vitest';
import { hasPostgres } from '../../support/postgresServer.ts';
import { readableDatabase, readableFile } from '../conformance/readable.ts';
import { isRead } from '../conformance/reader.ts';
import { hasSqlite } from '../startStore.ts';

const engines = [...(hasSqlite ? [readableFile] : []), ...(hasPostgres ? [readableDatabase] : [])];

describe.each(engines)('a store on $name as other processes read it', (engine) => {
  isRead(engine);
});
