// `npm run fire -- [--agents DIR] [--only AGENT,FAULT] [--bare|--behind] [--acp|--headless] [--patience 45s] [--json FILE] [--page]`: runs the installed
// agents through the matrices of faults, bare and behind unwedge, and writes docs/agents-under-fire.md.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildProgram } from '../../support/sourceModule.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const usage = `Usage: npm run fire -- [options]

  --agents DIR      a folder whose node_modules has the agents (default test/real)
  --only A,B,…      agents and faults, by their names
  --bare, --behind  one of the two ways alone
  --acp, --headless one of the two modes alone
  --rounds N        runs N cells that --seed S (else 1) picks, and writes no page; exits 1 where one is not as it should be
  --patience 45s    how long a client waits for an end
  --json FILE       the results; a run that was interrupted goes on from it (default .build/fire.json)
  --page            writes docs/agents-under-fire.md from all of --json, and what it is made of beside this program
`;

function fail(message) {
  process.stderr.write(`fire: ${message}\n`);
  process.exit(2);
}

function read() {
  const flag = { type: 'boolean', default: false };
  try {
    return parseArgs({
      options: {
        agents: { type: 'string', default: `${root}test/real` },
        only: { type: 'string', default: '' },
        bare: flag,
        behind: flag,
        acp: flag,
        headless: flag,
        patience: { type: 'string', default: '45s' },
        json: { type: 'string', default: `${root}.build/fire.json` },
        rounds: { type: 'string', default: '0' },
        seed: { type: 'string', default: '1' },
        page: flag,
        help: flag,
      },
    }).values;
  } catch (error) {
    return fail(error.message);
  }
}

const given = read();
if (given.help) {
  process.stdout.write(usage);
  process.exit(0);
}
if (process.platform !== 'linux') fail('it finds processes by /proc, which Linux alone has');
if (!/^\d{1,4}s$/.test(given.patience))
  fail(`Expected \`--patience\` to be seconds such as 45s, got "${given.patience}"`);
for (const option of ['rounds', 'seed'])
  if (!/^\d{1,6}$/.test(given[option])) fail(`Expected \`--${option}\` to be a number, got "${given[option]}"`);
const { fire, faultNames, agentNames, kept, page, readKept, troubles } = await import(
  await buildProgram('real/fire/index.ts')
);
const only = given.only === '' ? [] : given.only.split(',').map((each) => each.trim());
const strange = only.find((each) => !agentNames.includes(each) && !faultNames.includes(each));
if (strange !== undefined)
  fail(
    `Expected \`--only\` to have agents (${agentNames.join(', ')}) and faults (${faultNames.join(', ')}), got "${strange}"`,
  );
if (given.page && only.length > 0) fail('`--page` is made of all that is there: without `--only`');
const both = (one, other, names) => (given[one] === given[other] ? names : [given[one] ? names[0] : names[1]]);
const rounds = Number(given.rounds);
const file = rounds > 0 ? resolve(`${given.json}.rounds`) : resolve(given.json);
mkdirSync(dirname(file), { recursive: true });
if (rounds > 0) rmSync(file, { force: true });
if (!given.page) {
  const cells = await fire({
    modules: resolve(given.agents, 'node_modules'),
    unwedge: [process.execPath, `${root}dist/cli/main.js`],
    ways: both('bare', 'behind', ['bare', 'behind']),
    modes: both('acp', 'headless', ['acp', 'headless']),
    only: {
      agents: only.filter((each) => agentNames.includes(each)),
      faults: only.filter((each) => faultNames.includes(each)),
    },
    patienceMs: Number.parseInt(given.patience, 10) * 1000,
    file,
    progress: (line) => process.stderr.write(`${line}\n`),
    ...(rounds > 0 && { rounds: { count: rounds, seed: Number(given.seed) } }),
  });
  if (rounds > 0) {
    const bad = cells.filter((cell) => troubles(cell).length > 0);
    for (const cell of bad) process.stdout.write(`${cell.agent}, ${cell.fault}: ${troubles(cell).join(', ')}\n`);
    process.stdout.write(`${cells.length} rounds of seed ${given.seed}, ${bad.length} not as they should be\n`);
    process.exit(bad.length > 0 ? 1 : 0);
  }
}
if (!existsSync(file)) fail(`there are no results in ${file}`);
// A part of the cells makes no page.
const isWhole = only.length === 0 && given.bare === given.behind && given.acp === given.headless;
if (given.page || isWhole) {
  const seen = kept(JSON.parse(readFileSync(file, 'utf8')));
  writeFileSync(`${root}test/real/fire/seen.jsonl`, seen);
  writeFileSync(`${root}docs/agents-under-fire.md`, page(readKept(seen)));
}
process.exit();
