// What the package is run with, a row each. `npm run compat` runs them; docs/compatibility.md shows what came of it.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} Row
 * @property {string} id - for `--only`
 * @property {string} what - what is run, as the page says it
 * @property {Record<string, string>} packages - what is installed for it, by name; the value is what is asked of the registry
 * @property {boolean} works - whether it is to work; a row that does not is on the page with what is said then
 * @property {(place: Place) => Promise<string>} run - gives a note for the page; throws when it is not as it should be
 */

/**
 * @typedef {object} Place
 * @property {string} tools - has the node_modules of `packages`
 * @property {(kind: 'npm' | 'built' | 'pnpm') => Promise<string>} app - a project in which the packed package is installed
 * @property {(file: string, words: string[], options: { cwd: string, node?: string }) => Promise<{ code: number, out: string }>} start
 */

const fixtures = new URL('../fixtures/compat/', import.meta.url);

/** @type {readonly Row[]} */
export const rows = [
  // The least that `engines` promises, and the last of each line.
  ...['20.19.0', '20', '22', '24', '26'].map(onNode),
  {
    id: 'pnpm',
    what: 'the same program and commands, and the types',
    packages: { pnpm: '12', node: '24', typescript: '7' },
    works: true,
    run: async (place) => {
      const cwd = await place.app('pnpm');
      await program(place, cwd);
      await commands(place, cwd);
      await compiles(place, cwd, { module: 'nodenext' });
      return 'in its own layout of `node_modules`';
    },
  },
  otherRuntime('bun', 'Bun', {
    major: '1',
    words: [],
    resets: 'ok',
    note: 'takes a body without a length, whose connection is reset, for whole',
  }),
  otherRuntime('deno', 'Deno', {
    major: '2',
    words: ['run', '-A'],
    resets: 'transient connection_lost',
    note: 'starts no commands from a worker thread',
  }),
  typed('5.6', { module: 'nodenext' }),
  typed('5.9', { module: 'esnext', moduleResolution: 'bundler' }),
  typed('6.0', { module: 'node16' }),
  typed('7.0', { module: 'nodenext' }),
  typed('7.0', { module: 'esnext', moduleResolution: 'bundler' }),
  {
    ...typed('5.5', { module: 'nodenext' }),
    works: false,
    run: async (place) => {
      const { code, out } = await compile(place, await place.app('npm'), { module: 'nodenext' });
      expect(code !== 0 && out.includes('Symbol.asyncIterator'), out);
      return 'has no `AsyncIteratorObject`';
    },
  },
  ...['4', '5'].map((version) => ({
    id: `vitest-${version}`,
    what: 'Vitest, with `vi.useFakeTimers()` around supervised calls',
    packages: { vitest: version, node: '24' },
    works: true,
    run: async (place) => {
      const cwd = await place.app('npm');
      runnerTest(
        cwd,
        'fake.vitest.mjs',
        `import { expect, test, vi } from '${place.tools}/node_modules/vitest/dist/index.js';`,
        'vi',
      );
      writeFileSync(join(cwd, 'vitest.config.mjs'), `export default { test: { include: ['*.vitest.mjs'] } };\n`);
      await passes(place, cwd, [join(place.tools, 'node_modules/vitest/vitest.mjs'), 'run', '--root', cwd]);
      return 'fakes `performance` too, as it does by default';
    },
  })),
  {
    id: 'jest-esm',
    what: 'Jest, with `jest.useFakeTimers()` around supervised calls, in an ES module',
    packages: { jest: '30', node: '24' },
    works: true,
    run: async (place) => {
      const cwd = await place.app('npm');
      runnerTest(cwd, 'fake.jest.mjs', '', 'import.meta.jest');
      await passes(place, cwd, jest(place, cwd, '*.jest.mjs', ['--experimental-vm-modules']));
      return 'with `node --experimental-vm-modules`';
    },
  },
  {
    id: 'jest-cjs',
    what: 'Jest, the same by `require` in a module of CommonJS',
    packages: { jest: '30', node: '24' },
    works: true,
    run: async (place) => {
      const cwd = await place.app('npm');
      commonTest(cwd);
      await passes(place, cwd, jest(place, cwd, '*.jest.cjs', ['--experimental-vm-modules']));
      return 'with `node --experimental-vm-modules` of Node 24.9 or later';
    },
  },
  {
    id: 'jest-plain',
    what: 'Jest, by `require`, without that option',
    packages: { jest: '30', node: '24' },
    works: false,
    run: async (place) => {
      const cwd = await place.app('npm');
      commonTest(cwd);
      const { code, out } = await place.start(nodeOf(place), jest(place, cwd, '*.jest.cjs', []), { cwd });
      expect(code !== 0 && out.includes('Must use import to load ES Module'), out);
      return 'Jest says `Must use import to load ES Module`';
    },
  },
];

function onNode(version) {
  return {
    id: `node-${version}`,
    what: 'each entry by `import`, `unwedge` and `unwedge/testing` by `require`; a session that calls a function, a command and an MCP server; the commands',
    packages: { node: version },
    works: true,
    run: async (place) => {
      // Before Node 22.13 there is no SQLite but that of better-sqlite3, whose binary its install script makes.
      const cwd = await place.app(version.startsWith('20') ? 'built' : 'npm');
      await program(place, cwd);
      await network(place, cwd);
      const common = await place.start(nodeOf(place), ['program.cjs'], { cwd });
      expect(common.code === 0 && common.out.trim() === '42', common.out);
      return commands(place, cwd);
    },
  };
}

/** A runtime that says it is Node. @param seen - how it is started, what becomes of a body that a reset cuts, and what the page says. */
function otherRuntime(name, title, { major, words, resets, note }) {
  return {
    id: name,
    what: 'each entry by `import`, `unwedge` and `unwedge/testing` by `require`; a session with its store; connections that break; a host that is killed; `unwedge mcp`, and the commands that tell',
    packages: { [name]: major },
    works: true,
    run: async (place) => {
      const cwd = await place.app('npm');
      const runtime = join(place.tools, 'node_modules/.bin', name);
      const run = (...more) => place.start(runtime, [...words, ...more], { cwd });
      const programmed = await run('program.mjs');
      expect(programmed.code === 0 && programmed.out === '{"empty":[],"said":["found",2,"42","ok"]}\n', programmed.out);
      const common = await run('program.cjs');
      expect(common.code === 0 && common.out.trim() === '42', common.out);
      await makeCertificate(place, cwd);
      const trusted = ['NODE_EXTRA_CA_CERTS=cert.pem', 'DENO_CERT=cert.pem', runtime, ...words, 'network.mjs'];
      const { cuts, calls } = JSON.parse((await place.start('env', trusted, { cwd })).out);
      expect(String(calls) === 'ok,timeout idle_timeout,ok,ok,ok', String(calls));
      const lost = 'transient connection_lost';
      expect(String(cuts) === [lost, lost, resets].join(','), String(cuts));
      const outside = await place.start(process.execPath, ['otherRuntime.mjs', runtime, ...words], { cwd });
      const said = '{"ready":["READY","ok","unavailable"],"children":3,"left":0,"answered":"text","code":0}\n';
      expect(outside.out === said, outside.out);
      const version = await run('node_modules/unwedge/dist/cli/main.js', 'version');
      expect(version.out.includes(`${title} `) && version.out.includes('by node:sqlite'), version.out);
      return `SQLite by \`node:sqlite\`; ${note}`;
    },
  };
}

function typed(version, options) {
  const how = options.moduleResolution ?? options.module;
  return {
    id: `typescript-${version}-${how}`,
    what: `\`tsc\`, \`strict\`, \`moduleResolution: ${how}\`: each entry and the examples`,
    packages: { typescript: version },
    works: true,
    run: async (place) => {
      await compiles(place, await place.app('npm'), options);
      return 'with `skipLibCheck`';
    },
  };
}

/** Copies the programs of the fixtures into a project. */
export function putPrograms(cwd) {
  for (const name of ['program.mjs', 'program.cjs', 'network.mjs', 'fakeTimers.mjs', 'host.mjs', 'otherRuntime.mjs'])
    copyFileSync(new URL(name, fixtures), join(cwd, name));
}

async function program(place, cwd) {
  const { code, out } = await place.start(nodeOf(place), ['program.mjs'], { cwd });
  expect(code === 0 && out === '{"empty":[],"said":["found",2,"42","ok"]}\n', out);
}

/** Connections that break and fall silent; needs `openssl`, which makes the certificate. */
async function network(place, cwd) {
  await makeCertificate(place, cwd);
  // Node reads the variable as it starts.
  const { code, out } = await place.start('env', ['NODE_EXTRA_CA_CERTS=cert.pem', nodeOf(place), 'network.mjs'], {
    cwd,
  });
  expect(code === 0, out);
  const { cuts, calls, connections, versions } = JSON.parse(out);
  const isRight =
    cuts.every((each) => each === 'transient connection_lost') &&
    String(calls) === 'ok,timeout idle_timeout,ok,ok,ok' &&
    connections > 1 &&
    String(versions) === '1.1';
  expect(isRight, out);
}

/** Makes the certificate of a server that is nobody else's: Deno takes none that may sign others. */
async function makeCertificate(place, cwd) {
  if (existsSync(join(cwd, 'cert.pem'))) return;
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1', '-addext', 'basicConstraints=critical,CA:FALSE'];
  const about = ['-days', '2', '-subj', '/CN=127.0.0.1', ...names];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
  const made = await place.start('openssl', ['req', '-x509', ...key, ...about, '-out', 'cert.pem'], { cwd });
  expect(made.code === 0, made.out);
}

/** The commands that tell, and one that runs; gives the SQLite that `version` names. */
async function commands(place, cwd) {
  const run = (...words) => place.start(join(cwd, 'node_modules/.bin/unwedge'), words, { cwd, node: nodeOf(place) });
  const version = await run('version');
  expect(version.code === 0 && version.out.includes('SQLite'), version.out);
  const status = await run('status', '--json', '--db', 'gateway.sqlite');
  expect(status.code === 0 && JSON.parse(status.out) !== undefined, status.out);
  const command = await run('run', '--timeout', '1m', '--', nodeOf(place), '-e', 'console.log(6 * 7)');
  expect(command.code === 0 && command.out.includes('42'), command.out);
  const [, driver = ''] = /SQLite \S+, by (\S+)/.exec(version.out) ?? [];
  return `SQLite by \`${driver}\``;
}

async function compiles(place, cwd, options) {
  const { code, out } = await compile(place, cwd, options);
  expect(code === 0, out);
}

/** What TypeScript says of a strict program that takes each entry, and of the examples of the package. */
function compile(place, cwd, options) {
  const installed = join(cwd, 'node_modules/unwedge');
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const entries = Object.entries(exports).flatMap(([path, { types }]) =>
    types === undefined ? [] : [path.replace('.', 'unwedge')],
  );
  writeFileSync(join(cwd, 'entries.mts'), entries.map((entry, at) => `export * as e${at} from '${entry}';\n`).join(''));
  const examples = ['minimal.mjs', 'embed.mjs', 'workflow.mjs', 'workflow-goose.mjs', 'agents.mjs', 'stream.ts'];
  for (const name of examples)
    copyFileSync(join(installed, 'examples', name), join(cwd, name.replace(/\.\w+$/, '.mts')));
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    target: 'es2022',
    moduleDetection: 'force',
    types: ['node'],
    ...options,
  };
  const file = `tsconfig.${process.pid}.json`;
  writeFileSync(join(cwd, file), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
  return place.start(process.execPath, [join(place.tools, 'node_modules/typescript/bin/tsc'), '-p', file], { cwd });
}

/** A test file of a runner, whose fake timers are called `timers`. */
function runnerTest(cwd, name, imports, timers) {
  writeFileSync(
    join(cwd, name),
    `${imports}\nimport { define } from './fakeTimers.mjs';\ndefine({ test, expect, timers: ${timers} });\n`,
  );
}

function commonTest(cwd) {
  const text = `const { define } = require('./fakeTimers.mjs');\ndefine({ test, expect, timers: jest });\n`;
  writeFileSync(join(cwd, 'fake.jest.cjs'), text);
}

function jest(place, cwd, files, options) {
  writeFileSync(join(cwd, 'jest.config.json'), JSON.stringify({ testMatch: [`**/${files}`], transform: {} }));
  return [...options, join(place.tools, 'node_modules/jest/bin/jest.js'), '--config', 'jest.config.json', '--ci'];
}

async function passes(place, cwd, words) {
  const { code, out } = await place.start(nodeOf(place), words, { cwd });
  expect(code === 0, out);
}

const nodeOf = ({ tools }) => join(tools, 'node_modules/.bin/node');

function expect(condition, said) {
  if (!condition) throw new Error(said.trim().split('\n').slice(-20).join('\n'));
}
