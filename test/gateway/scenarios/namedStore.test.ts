import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type GatewayOptions } from '../../../src/index.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const program = fileURLToPath(new URL('../../fixtures/noDriver.mjs', import.meta.url));

function makeGateway(options: GatewayOptions) {
  const gateway = createGateway({ control: false, ...options });
  onTestFinished(() => gateway.stop());
  return gateway;
}

describe('a gateway whose named store cannot be had', () => {
  it('[I-6] [U-11] does not start where no SQLite driver loads, and says which file and what to do', async () => {
    const path = join(temporaryDirectory(), 'durable.sqlite');
    const { stdout } = await execa(process.execPath, [program, JSON.stringify(path)]);
    const { error, running } = JSON.parse(stdout) as { error: { code: string; message: string }; running: boolean };
    expect(error).toEqual({ code: 'UNWEDGE_STORE_UNAVAILABLE', message: expect.stringContaining('`store`') as string });
    expect(error.message).toContain(`${path}: no SQLite driver works`);
    expect(error.message).toContain('pnpm approve-builds');
    expect(error.message).toContain('required: false');
    expect(running).toBe(false);
  });

  it('[I-6] starts without it where it is not required', async () => {
    const store = { path: join(temporaryDirectory(), 'durable.sqlite'), required: false };
    const { stdout } = await execa(process.execPath, [program, JSON.stringify(store)]);
    expect(JSON.parse(stdout)).toEqual({ running: true, kind: 'memory', degraded: true });
  });
});

describe.skipIf(!hasSqlite)('a gateway whose named store cannot be used', () => {
  const spoilt: readonly (readonly [string, (path: string) => void, string])[] = [
    ['a directory', (path) => mkdirSync(path), 'name a file'],
    ['no database', (path) => writeFileSync(path, 'not a database'.repeat(1000)), 'choose another file'],
    [
      'of a newer version',
      (path) => openDatabase(path).exec('PRAGMA application_id = 1970173796; PRAGMA user_version = 99'),
      'update unwedge',
    ],
  ];

  it.each(spoilt)('[I-6] does not start when it is %s, unless it is not required', async (_, spoil, fix) => {
    const directory = temporaryDirectory();
    const path = join(directory, 'durable.sqlite');
    spoil(path);
    const gateway = makeGateway({ store: path });
    const facts: string[] = [];
    gateway.on('*', ({ type }) => void facts.push(type));
    const started = gateway.start();
    await expect(started).rejects.toMatchObject({ code: 'UNWEDGE_STORE_UNAVAILABLE' });
    await expect(started).rejects.toThrow(path);
    await expect(started).rejects.toThrow(fix);
    expect(facts).toEqual([]);
    const degraded = makeGateway({ store: { path, required: false } });
    await degraded.start();
    expect(degraded.store?.degraded).toBe(true);
  });

  it('[I-6] can be started again once it is mended', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'missing', 'durable.sqlite');
    writeFileSync(join(directory, 'missing'), 'no directory');
    const gateway = makeGateway({ store: path });
    await expect(gateway.start()).rejects.toMatchObject({ code: 'UNWEDGE_STORE_UNAVAILABLE' });
    rmSync(join(directory, 'missing'));
    await gateway.start();
    expect(gateway.store?.degraded).toBe(false);
  });

  it('[I-6] [O-2] starts while it is locked', async () => {
    const path = join(temporaryDirectory(), 'durable.sqlite');
    const first = makeGateway({ store: path });
    await first.start();
    await first.stop();
    const holder = openDatabase(path);
    holder.exec('BEGIN EXCLUSIVE');
    const gateway = makeGateway({ store: path });
    const started = gateway.start();
    holder.exec('COMMIT');
    await started;
    expect(gateway.store?.degraded).toBe(false);
  });

  it('[I-6] names the option that is wrong', () => {
    expect(() => createGateway({ store: { path: '' } })).toThrow('`store.path`');
    expect(() => createGateway({ store: { path: 'x', required: 1 as never } })).toThrow('`store.required`');
    expect(() => createGateway({ store: { path: 'x', requird: false } as never })).toThrow('requird');
  });
});
