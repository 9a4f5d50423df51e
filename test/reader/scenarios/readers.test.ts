import { describe } from 'vitest';
import { hasPostgres } from '../../support/postgresServer.ts';
import { readableDatabase, readableFile } from '../../store/conformance/readable.ts';
import { isRead } from '../../store/conformance/reader.ts';
import { hasSqlite } from '../../store/startStore.ts';

const engines = [...(hasSqlite ? [readableFile] : []), ...(hasPostgres ? [readableDatabase] : [])];

describe.each(engines)('a store on $name as other processes read it', (engine) => {
  isRead(engine);
});
