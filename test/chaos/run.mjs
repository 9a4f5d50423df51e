// `npm run chaos -- gateway [--times N] [--seed N] [--json]`: kills real processes at random points and checks what is left.
import { parseArgs } from 'node:util';
import { killGateway } from './killGateway.mjs';

const usage = `Usage: npm run chaos -- gateway [--times N] [--seed N] [--json]

  gateway      kill -9 of a gateway under load; every accepted message must be processed or set aside, every call answered
  --times N    how often it is killed (default 200)
  --seed N     of the random points (default: by the clock; printed)
  --json       the report as JSON
`;

function fail(message) {
  process.stderr.write(`chaos: ${message}\n`);
  process.exit(2);
}

function count(name, text) {
  if (!/^\d{1,9}$/.test(text)) fail(`Expected \`--${name}\` to be a whole number, got "${text}"`);
  return Number(text);
}

function read() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        times: { type: 'string', default: '200' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return fail(error.message);
  }
}

const { values, positionals } = read();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
if (positionals.length !== 1 || positionals[0] !== 'gateway') {
  fail(`Expected \`gateway\`, got "${positionals.join(' ')}"; see npm run chaos -- --help`);
}
const times = count('times', values.times);
const seed = count('seed', values.seed);
const startedAt = Date.now();
const report = await killGateway({
  times,
  seed,
  progress(kills, accepted) {
    if (process.stderr.isTTY) process.stderr.write(`\r${kills} of ${times} kills, ${accepted} messages accepted `);
  },
});
const { violations } = report;
if (values.json) process.stdout.write(`${JSON.stringify({ ...report, ms: Date.now() - startedAt })}\n`);
else {
  process.stdout.write(
    `gateway killed ${report.kills} times: ${report.accepted} messages accepted, ${report.redelivered} delivered again, ` +
      `${report.poisoned} set aside, ${report.lostCalls} lost calls answered, ${violations.length} violations\n`,
  );
  for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
}
if (violations.length > 0) {
  process.stdout.write(`Again: npm run chaos -- gateway --times ${times} --seed ${seed}\n`);
  process.exitCode = 1;
}
