import { describe } from 'vitest';
import { memory, sqlite } from '../conformance/engine.ts';
import { keepsAll } from '../conformance/keepsAll.ts';
import { hasSqlite } from '../startStore.ts';

// The same of PostgreSQL is in enginesOnPostgres.slow.test.ts: each test has a schema of its own there, which takes half a second.
describe.each(hasSqlite ? [memory, sqlite] : [memory])('the engine $name', (engine) => {
  keepsAll(engine);
});
