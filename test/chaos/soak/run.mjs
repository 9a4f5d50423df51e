// `npm run soak [-- --minutes N] [--seed N] [--out FILE.svg] [--json FILE]`: everything on at a steady rate, and no curve may rise.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { soakPicture } from './picture.mjs';
import { soak } from './soak.mjs';

const usage = `Usage: npm run soak [-- [--minutes N] [--seed N] [--leak WHAT] [--out FILE.svg] [--json FILE]]

A gateway with everything on, and mcp, mcp --listen, serve, dashboard, api and acp beside it, work at a steady rate. What each of them holds is measured
every few seconds; after a sixth of the time no curve may rise.
  --minutes N   how long (default 60)
  --seed N      of the rates and the load (default 1)
  --leak WHAT   planted in the gateway, to be found: of heap,descriptor,timer,file
  --out FILE    the curves as a picture
  --json FILE   all samples, and how each curve was judged
`;
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    leak: { type: 'string' },
    out: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const minutes = Number(values.minutes);
if (!(minutes > 0) || !/^\d{1,9}$/.test(values.seed)) {
  process.stderr.write(`soak: Expected \`--minutes\` above 0 and a whole \`--seed\`\n${usage}`);
  process.exit(2);
}
const report = await soak({
  minutes,
  seed: Number(values.seed),
  leak: values.leak?.split(','),
  progress: (done) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done.toFixed(1)} of ${minutes} minutes `);
  },
});
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report)}\n`);
if (values.out !== undefined) writeFileSync(values.out, soakPicture(report));
const sum = (counts) => Object.values(counts).reduce((all, each) => all + each, 0);
process.stdout.write(
  `${minutes} minutes: ${sum(report.done)} ends in the gateway, ${sum(report.asked)} doings of ${report.curves.length - 2} programs beside it, ` +
    `${report.judged.length} curves, ${report.violations.length} violations\n`,
);
for (const violation of report.violations.slice(0, 40)) process.stdout.write(`  ${violation}\n`);
process.exitCode = report.violations.length === 0 ? 0 : 1;
