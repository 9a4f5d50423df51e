import { describe, expect, it } from 'vitest';
import { createOwnLogger } from '../../cli/ownLogger.ts';

describe('what a command says of what its runtime logs', () => {
  it('[L-1] [I-4] is warnings and errors; of a service also what has become well again', () => {
    const said: string[] = [];
    const [command, service] = [false, true].map((info) => createOwnLogger((line) => void said.push(line), { info }));
    for (const logger of [command, service]) {
      logger?.debug('a detail');
      logger?.info('All clear: kb');
      logger?.warn('kb is down');
    }
    expect(said).toEqual(['kb is down', 'All clear: kb', 'kb is down']);
  });

  it('[I-4] tells once that the store is out of order', () => {
    const said: string[] = [];
    const logger = createOwnLogger((line) => void said.push(line));
    for (const line of ['The store is degraded: full', 'The store closed with 3 events lost']) logger.warn(line);
    expect(said).toEqual(['The store is degraded: full']);
  });
});
