import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema } from '../startPostgres.ts';

describe.skipIf(!hasPostgres)('the retention of a PostgreSQL database', () => {
  it('[N-1] [I-4] is said to have no effect, where it was asked for', async () => {
    const { open } = await newSchema();
    const said: string[] = [];
    const say = (line: string): void => void said.push(line);
    const logger = { debug: () => undefined, info: () => undefined, warn: say, error: say };
    await open({ logger });
    expect(said).toEqual([]);
    await open({ logger, retention: { maxAgeMs: '30d' } });
    expect(said).toEqual(['Nothing is deleted from a PostgreSQL database yet: `retention` has no effect on it.']);
  });
});
