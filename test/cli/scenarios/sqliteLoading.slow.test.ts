import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';
import { failed } from '../../store/startStore.ts';
import { databaseWith } from '../startCli.ts';

const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));
const watch = fileURLToPath(new URL('../../fixtures/watchLoading.mjs', import.meta.url));

/** The files of the package with SQL for PostgreSQL. */
const ofPostgres = readdirSync(`${dist}parts`).filter((file) =>
  readFileSync(`${dist}parts/${file}`, 'utf8').includes('uw_schema'),
);

/** What a command of the built command line loads that is for PostgreSQL, and how it ended. */
async function loadedBy(words: readonly string[]) {
  const home = temporaryDirectory();
  const { stderr, exitCode } = await execa(process.execPath, ['--import', watch, `${dist}cli/main.js`, ...words], {
    env: { HOME: home, XDG_RUNTIME_DIR: home, PATH: process.env['PATH'] ?? '' },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  const loaded = stderr.split('\n').filter((line) => line.startsWith('loaded '));
  const isOfPostgres = (url: string): boolean =>
    /\/node_modules\/pg(?:-[^/]+)?\//.test(url) || ofPostgres.some((file) => url.endsWith(`/${file}`));
  return { exitCode, some: loaded.length > 0, ofPostgres: loaded.filter(isOfPostgres) };
}

describe('a command on a file', () => {
  it('[N-1] is told from one on PostgreSQL by what it loads', async () => {
    expect(ofPostgres.length).toBeGreaterThan(0);
    const { ofPostgres: loaded } = await loadedBy(['status', '--db', 'postgres://127.0.0.1:1/agents']);
    expect(loaded.filter((url) => url.includes('/node_modules/pg/')).length).toBeGreaterThan(0);
    expect(loaded.filter((url) => url.includes('/dist/')).length).toBeGreaterThan(0);
  });

  it.each<[string, number | undefined]>([
    ['status --db FILE', 0],
    ['events --db FILE', 0],
    ['alerts --db FILE', 0],
    ['report --db FILE', 0],
    ['letters --db FILE', 0],
    ['metrics --db FILE', 0],
    ['cluster --db FILE', 1],
    // It judges the machine, too.
    ['doctor --db FILE', undefined],
    ['config --db FILE', 0],
    ['why s --db FILE', 1],
    ['letters --drop s-m1 --db FILE', 1],
    ['restart kb --db FILE', 1],
    ['migrate --from FILE', 2],
    ['run --name x --db FILE -- node --version', 0],
  ])('[N-1] loads nothing for PostgreSQL: unwedge %s', async (words, code) => {
    const file = await databaseWith(failed(1));
    const { exitCode, some, ofPostgres: loaded } = await loadedBy(words.replace('FILE', file).split(' '));
    expect([exitCode, some, loaded]).toEqual([code ?? exitCode, true, []]);
  });
});
