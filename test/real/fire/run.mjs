// `npm run fire -- [--agents DIR] [--only AGENT,FAULT] [--bare|--behind] [--acp|--headless] [--patience 45s] [--json FILE] [--page]`: runs the installed
// agents through the matrices of faults, bare and behind unwedge, and writes docs/agents-under-fire.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
const { fire, faultNames, agentNames, kept, page, readKept } = await import(await buildProgram('real/fire/index.ts'));
const only = given.only === '' ? [] : given.only.split(',').map((each) => each.trim());
const strange = only.find((each) => !agentNames.includes(each) && !faultNames.includes(each));
if (strange !== undefined)
  fail(
    `Expected \`--only\` to have agents (${agentNames.join(', ')}) and faults (${faultNames.join(', ')}), got "${strange}"`,
  );
if (given.page && only.length > 0) fail('`--page` is made of all that is there: without `--only`');
const both = (one, other, names) => (given[one] === given[other] ? names : [given[one] ? names[0] : names[1]]);
const file = resolve(given.json);
mkdirSync(dirname(file), { recursive: true });
if (!given.page) {
  await fire({
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
  });
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
