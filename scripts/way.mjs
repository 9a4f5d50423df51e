// Measures the way of a call and of a turn through the source: the functions that are entered, and their files. `node scripts/way.mjs [--list]`.
// The source is compiled file by file, and V8 counts the entries of one call that comes after 200 others, the shortest of two hundred: on a busy machine most are
// kept waiting, and are not warm. test/package/way.slow.test.ts holds the figures.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, '.build/way');

/** Compiles the source as single files. */
export function compile() {
  mkdirSync(compiled, { recursive: true });
  const words = ['-p', join(root, 'tsconfig.build.json'), '--outDir', compiled, '--emitDeclarationOnly', 'false'];
  const more = [
    '--declaration',
    'false',
    '--sourceMap',
    'false',
    '--incremental',
    '--tsBuildInfoFile',
    join(compiled, '.tsbuildinfo'),
  ];
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...words, ...more], {
    stdio: 'inherit',
  });
}

/**
 * @param {'call' | 'turn'} what - `call`: a plain call that succeeds. `turn`: a message of a session with one tool call that was not made before, kept in SQLite.
 * @returns the functions that were entered, `entries` how often, sorted by file.
 */
export async function measure(what) {
  const { createGateway } = await import(pathToFileURL(join(compiled, 'src/index.js')).href);
  const { systemClock } = await import(pathToFileURL(join(compiled, 'src/runtime/systemClock.js')).href);
  const scratch = mkdtempSync(join(tmpdir(), 'unwedge-way-'));
  // Of a call that comes soon after others: to count takes longer than the machine is left alone, by a timer.
  const clock = { ...systemClock, setTimeout: () => ({}), clearTimeout: () => undefined };
  const gateway = createGateway(what === 'turn' ? { store: join(scratch, 'store.db'), control: false } : { clock });
  try {
    const once = what === 'turn' ? turns(gateway) : calls(gateway);
    await gateway.start();
    return await countEntries(once);
  } finally {
    await gateway.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function calls(gateway) {
  const integration = gateway.integration('echo', {}, async ({ input }) => input);
  return async () => {
    await integration.call(1);
  };
}

function turns(gateway) {
  let said = 0;
  gateway.integration('echo', {}, async ({ input }) => input);
  const session = gateway.session('s', { onMessage: (_, turn) => turn.tool('echo', 'say', { word: `x${++said}` }) });
  return async () => {
    const sent = await session.send({ kind: 'user', text: 'x' });
    await sent.processed;
  };
}

/** Counts several calls and gives the one with the fewest entries: a timer may come between. */
async function countEntries(once) {
  for (let warm = 0; warm < 200; warm++) await once();
  // The machine is left alone from the end of a turn of the event loop on.
  await new Promise(setImmediate);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const counted = [];
  for (let times = 0; times < 200; times++) {
    await session.post('Profiler.takePreciseCoverage');
    await once();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    counted.push(enteredIn(result));
  }
  session.disconnect();
  return counted.sort((one, other) => summary(one).entries - summary(other).entries)[0];
}

function enteredIn(scripts) {
  const prefix = `${pathToFileURL(compiled).href}/`;
  return scripts
    .filter(({ url }) => url.startsWith(prefix))
    .flatMap(({ url, functions }) =>
      functions.map(({ functionName: name, ranges }) => ({
        file: url.slice(prefix.length),
        name,
        entries: ranges[0].count,
      })),
    )
    .filter(({ entries }) => entries > 0)
    .sort((one, other) => one.file.localeCompare(other.file));
}

/** @param entered - as {@link measure} gives them. */
export function summary(entered) {
  return {
    files: new Set(entered.map(({ file }) => file)).size,
    functions: entered.length,
    entries: entered.reduce((sum, { entries }) => sum + entries, 0),
  };
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  compile();
  for (const what of ['call', 'turn']) {
    const entered = await measure(what);
    console.log(JSON.stringify({ what, ...summary(entered) }));
    if (words.includes('--list'))
      for (const { file, name, entries } of entered) console.log(`  ${entries} ${file} ${name}`);
  }
}
