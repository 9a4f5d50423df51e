import { describe } from 'vitest';
import { hasPostgres } from '../../support/postgresServer.ts';
import { postgres } from '../conformance/engine.ts';
import { keepsAll } from '../conformance/keepsAll.ts';

describe.skipIf(!hasPostgres).each([postgres])('the engine $name', (engine) => {
  keepsAll(engine);
});
