import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signInDirectory, storePath, storePlace } from '../../src/store/paths.ts';

const env = { UNWEDGE_DB: '/env/a.sqlite', XDG_STATE_HOME: '/state', HOME: '/home/me' };

describe('the path of the store', () => {
  it('[O-1] is the option before all', () => {
    expect(storePath('/option/a.sqlite', env)).toBe('/option/a.sqlite');
    expect(storePath(':memory:', env)).toBe(':memory:');
  });

  it('[O-1] is made absolute', () => {
    expect(storePath('a.sqlite', env)).toBe(resolve('a.sqlite'));
  });

  it('[O-1] is UNWEDGE_DB without an option', () => {
    expect(storePath(undefined, env)).toBe('/env/a.sqlite');
    expect(storePath(undefined, { UNWEDGE_DB: ':memory:' })).toBe(':memory:');
  });

  it('[O-1] is in the XDG state directory else', () => {
    expect(storePath(undefined, { ...env, UNWEDGE_DB: '' })).toBe('/state/unwedge/unwedge.sqlite');
    expect(storePath(undefined, { HOME: '/home/me' })).toBe('/home/me/.local/state/unwedge/unwedge.sqlite');
    expect(storePath(undefined, {})).toBe(join(homedir(), '.local/state/unwedge/unwedge.sqlite'));
  });

  it('ignores a relative XDG directory, as its specification says', () => {
    expect(storePath(undefined, { XDG_STATE_HOME: 'state', HOME: '/h' })).toBe(
      '/h/.local/state/unwedge/unwedge.sqlite',
    );
  });

  it('names an option that is no path', () => {
    expect(() => storePath('', env)).toThrow('Expected `path` to be a non-empty string, got ""');
  });

  const url = 'postgres://robin:s3cr3t@db/agents?schema=mine';

  it('[N-1] [O-8] is no URL of a database, which is named without its password', () => {
    const said =
      'postgres://db/agents?schema=mine is a PostgreSQL database, for gateways and for what reads of them alone. Name a file';
    expect(() => storePath(url, env)).toThrow(new RangeError(said));
    expect(() => storePath(undefined, { UNWEDGE_DB: url })).toThrow(new RangeError(said));
  });

  it('[N-1] is the URL as it was given, for whoever can use one', () => {
    expect(storePlace(url, env)).toBe(url);
    expect(storePlace('a.sqlite', env)).toBe(resolve('a.sqlite'));
    expect(signInDirectory({ ...env, UNWEDGE_DB: url })).toBe('/state/unwedge/sign-ins');
  });
});
