import { chmodSync, copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HandshakeFiles } from '../../../proxy/wire/handshakeFiles.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const recorded = { initialize: { protocolVersion: '2025-11-25' }, lists: { 'tools/list': [{ tools: [] }] } };
const day = 24 * 3_600_000;

function files(directory = join(temporaryDirectory(), 'handshakes')) {
  const clock = { now: 1_000 * day };
  const of = (identity: unknown = 'server') =>
    new HandshakeFiles({ directory, identity, holdsSecret: (text) => text.includes('s3cret'), now: () => clock.now });
  const path = () => join(directory, readdirSync(directory).find((name) => name.endsWith('.json')) ?? '');
  return { directory, clock, of, path };
}

describe('files of handshakes', () => {
  it('[P-3] give back what was kept for the same server and client, and for no other', () => {
    const { of } = files();
    of().keep('client', recorded);
    expect(of().find('client')).toEqual(recorded);
    expect(of().find('other')).toBeUndefined();
    expect(of(['server', { KEY: 'other' }]).find('client')).toBeUndefined();
  });

  it('[P-3] hold nothing of what the server is known by', () => {
    const { of, directory, path } = files();
    of(['/srv/s3cret-path', { API_KEY: 's3cret' }]).keep('client', recorded);
    expect(readdirSync(directory).join()).not.toContain('s3cret');
    expect(readFileSync(path(), 'utf8')).not.toMatch(/s3cret|API_KEY/);
  });

  it('[P-3] take back what has come to hold a secret', () => {
    const { of } = files();
    of().keep('client', recorded);
    of().keep('client', { ...recorded, initialize: { instructions: 'use s3cret' } });
    expect(of().find('client')).toBeUndefined();
  });

  it.each([
    ['is cut', (path: string) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, 40))],
    [
      'was changed',
      (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace('2025-11-25', '2025-11-26')),
    ],
    [
      'is of another format',
      (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace('"format":1', '"format":0')),
    ],
    ['others may read', (path: string) => chmodSync(path, 0o644)],
  ])('[P-3] that %s are none', (_, spoil) => {
    const { of, path } = files();
    of().keep('client', recorded);
    const kept = path();
    spoil(kept);
    expect(of().find('client')).toBeUndefined();
  });

  it('[P-3] of another folder are none: they were written with another key', () => {
    const one = files();
    const other = files();
    one.of().keep('client', recorded);
    other.of().keep('else', recorded);
    const own = other.path();
    copyFileSync(one.path(), own);
    copyFileSync(one.path(), join(other.directory, one.path().split('/').at(-1) ?? ''));
    expect(other.of().find('else')).toBeUndefined();
    expect(other.of().find('client')).toBeUndefined();
  });

  it('[P-3] behind a link are none', () => {
    const { of, path, directory } = files();
    of().keep('client', recorded);
    const kept = path();
    const elsewhere = join(directory, 'elsewhere');
    copyFileSync(kept, elsewhere);
    of().drop('client');
    symlinkSync(elsewhere, kept);
    expect(of().find('client')).toBeUndefined();
  });

  it('[P-3] are none after 30 days, and go when others are kept', () => {
    const { of, clock } = files();
    of().keep('client', recorded);
    clock.now += 30 * day;
    expect(of().find('client')).toEqual(recorded);
    clock.now += 1;
    expect(of().find('client')).toBeUndefined();
  });

  it('[P-3] survive many who write at once, and a folder that cannot be written to', () => {
    const { of, directory } = files();
    const all = Array.from({ length: 20 }, () => of());
    for (const each of all) each.keep('client', recorded);
    expect(all.every((each) => each.find('client') !== undefined)).toBe(true);
    expect(readdirSync(directory).filter((name) => name !== 'key')).toHaveLength(1);
    const nowhere = files('/proc/nowhere/handshakes').of();
    nowhere.keep('client', recorded);
    nowhere.drop('client');
    expect(nowhere.find('client')).toBeUndefined();
  });
});
