// `npm run conformance -- [options]`: runs the official conformance suite against the proxy, and under fire; exits 1 where a verdict is worse than those of
// the server or the client itself and nothing explains it.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildProgram } from '../support/sourceModule.mjs';

const usage = `Usage: npm run conformance -- [options]

  --fire             the server is killed, stopped, made to hang, flooded and cut at the boundaries of its messages
  --rounds N|all     runs under fire for each way: drawn by the seed, or every boundary with every fault (default 60)
  --seed N           what is drawn (default 1)
  --ways A,B,…       of the ways through unwedge (stdio, listen, url, hub) and \`bare\`, those alone
  --proxy "COMMAND…" another program in their place; may be repeated. {server} in it is the command of the server, {line} the same as one word, {url}
                     its address by HTTP; with {port} it listens there, at /mcp, else it speaks over stdin and stdout
  --peers            mcp-proxy, supergateway and mcp-remote of bench/ as well
  --faults A,B,…     of the faults (kill, stop, hang, flood, cut) those alone
  --scenarios A,B,…  of the suite's scenarios those alone
  --suite FILE       the entry of another version of the suite, with Node 22 (dist/index.js)
  --at-once N        runs at a time (default 2)
  --clients no|only  the suite's clients, which are played with the way \`url\`, are left out, or nothing else is played
  --resume FILE      where what was seen is kept, run by run; runs that are in it are not played again
  --seconds N        begins no run after so many; the next command with the same FILE goes on there
  --json FILE        everything that was seen
`;

function fail(message) {
  process.stderr.write(`conformance: ${message}\n`);
  process.exit(2);
}

function read() {
  const text = (value) => ({ type: 'string', ...(value !== undefined && { default: value }) });
  const flag = { type: 'boolean', default: false };
  try {
    return parseArgs({
      options: {
        fire: flag,
        rounds: text('60'),
        seed: text('1'),
        ways: text(),
        proxy: { type: 'string', multiple: true, default: [] },
        peers: flag,
        faults: text(),
        scenarios: text(),
        suite: text(),
        'at-once': text('2'),
        clients: text(),
        resume: text(),
        seconds: text(),
        json: text(),
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

function count(name, text) {
  if (!/^\d{1,9}$/.test(text)) fail(`Expected \`--${name}\` to be a whole number, got "${text}"`);
  return Number(text);
}

function listed(name, known) {
  const names = given[name]?.split(',');
  const strange = names?.find((each) => known !== undefined && !known.includes(each));
  if (strange !== undefined) fail(`Expected \`--${name}\` to have ${known.join(', ')}, got "${strange}"`);
  return names;
}

const { abandon, bare, compareClients, faults, fire, fireClients, keptIn, ownWays, peers, table, unexplained } =
  await import(await buildProgram('conformance/index.ts'));
for (const name of ['SIGINT', 'SIGTERM']) {
  process.once(name, () => {
    abandon();
    process.exit(1);
  });
}
const named = listed(
  'ways',
  [bare, ...ownWays].map(({ name }) => name),
);
const proxies = given.proxy.map((line) => ({ name: line.split(/\s+/)[0], words: line.split(/\s+/) }));
const own = proxies.length > 0 ? [] : [bare, ...ownWays].filter(({ name }) => named?.includes(name) ?? name !== 'bare');
const progress = (line) => process.stderr.write(`${line}\n`);
const reports = await fire({
  ways: listed('clients', ['no', 'only'])?.[0] === 'only' ? [] : [...own, ...proxies, ...(given.peers ? peers : [])],
  seed: count('seed', given.seed),
  rounds: given.fire ? (given.rounds === 'all' ? undefined : count('rounds', given.rounds)) : 0,
  faults: listed('faults', faults),
  scenarios: listed('scenarios'),
  suite: given.suite === undefined ? undefined : resolve(given.suite),
  atOnce: count('at-once', given['at-once']),
  kept: given.resume === undefined ? undefined : keptIn(given.resume),
  forMs: given.seconds === undefined ? undefined : count('seconds', given.seconds) * 1000,
  progress,
});
const isAsked = given.clients === 'only' || given.scenarios === undefined;
const hasClients = given.clients !== 'no' && own.some(({ name }) => name === 'url') && isAsked;
const ofClients = { progress, scenarios: listed('scenarios'), faults: listed('faults', faults) };
const clients = hasClients ? await (given.fire ? fireClients : compareClients)(ofClients) : [];
if (given.json !== undefined) writeFileSync(given.json, JSON.stringify({ reports, clients }, null, 1));
process.stdout.write(`${table(reports)}\n`);
const isWorse = ({ worse }) => Object.keys(worse).length > 0;
const others = clients.filter((each) => isWorse(each));
if (clients.length > 0) {
  const explained = others.filter((each) => each.explained !== undefined);
  process.stdout.write(
    `${clients.length} runs of clients, ${others.length} worse, ${explained.length} of them explained\n`,
  );
}
const ours = reports.filter(({ way }) => ownWays.some(({ name }) => name === way));
const bad = [
  ...ours.flatMap(unexplained),
  ...ours.filter(({ without }) => Object.keys(without).length > 0),
  ...others.filter((each) => each.explained === undefined),
];
for (const each of bad) process.stdout.write(`${JSON.stringify(each)}\n`);
process.stdout.write(`${bad.length} worse that nothing explains\n`);
process.exit(bad.length > 0 ? 1 : 0);
