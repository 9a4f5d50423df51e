import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { guards } from './guards.ts';
import { formatBaseline, parseBaseline } from './harness/baseline.ts';
import { textOfFindings } from './harness/guard.ts';
import { isolate } from './harness/isolate.ts';
import { machineText, thisMachine } from './harness/machine.ts';
import { processMeter } from './harness/meter.ts';
import { type BenchOptions, parseOptions } from './harness/options.ts';
import { type SuiteReport, reportOf, textOf } from './harness/report.ts';
import { runSuite } from './harness/rounds.ts';
import { checkGuards, measureGuards, missingFor } from './harness/watch.ts';
import { howToInstall } from './peers/load.ts';
import { loadSuite, secondsOf, suiteNames } from './suites.ts';

const usage = `Usage: npm run bench -- [SUITE…] [--json] [--rounds N] [--quick]
       npm run bench -- --check | --record [--json] [--rounds N]

Measures subjects side by side in rounds and prints, for each figure, its minimum and (median), and the ratio of the
minima against the suite's baseline. Times are CPU time and wall time for each thing done.

  SUITE        ${suiteNames.slice(0, 8).join(', ')},
               ${suiteNames.slice(8).join(', ')} (default: all)
  --rounds N   how often each case is measured, 1 to 1000 (default up to 5, as there is time: all suites
               end within 20 minutes on 2 cores; with --quick 2, with --check 3)
  --quick      leaves out the long cases; targets that need them are not judged
  --check      compares some of the ratios with those in bench/baseline.json, in two minutes
  --record     writes them there
  --json       the samples too, for machines (with npm run --silent)

Exits 1 when a target was missed or a ratio has grown, 2 when an option or the baseline is wrong.`;

const baselinePath = fileURLToPath(new URL('../../bench/baseline.json', import.meta.url));
const progress = process.stderr.isTTY ? (text: string) => void process.stderr.write(`\r\x1b[K${text}`) : undefined;

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof RangeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  return 2;
});

async function main(words: readonly string[]): Promise<number> {
  const options = parseOptions(words, suiteNames);
  if (options.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (options.mode === 'check') return check(options);
  if (options.mode === 'record') return record(options);
  return run(options);
}

async function run({ suites, json, rounds, inTime, quick }: BenchOptions): Promise<number> {
  const meter = processMeter();
  const machine = thisMachine();
  if (!json) process.stdout.write(`${machineText(machine)}\n`);
  const reports: SuiteReport[] = [];
  for (const name of suites) {
    const suite = await loadSuite(name);
    const startedAt = performance.now();
    const seconds = inTime ? secondsOf(name) : undefined;
    const figures = await runSuite(suite, { rounds, seconds, quick, meter, isolate, progress });
    const report = reportOf(suite, figures, (performance.now() - startedAt) / 1000);
    progress?.('');
    reports.push(report);
    if (!json) process.stdout.write(`${textOf(suite, report)}\n`);
  }
  const missed = reports.flatMap(({ targets }) => targets).filter(({ met }) => met === false).length;
  if (json) process.stdout.write(`${JSON.stringify({ machine, rounds, quick, suites: reports }, undefined, 2)}\n`);
  else {
    const { load } = thisMachine();
    const minutes = (performance.now() / 60_000).toFixed(1);
    process.stdout.write(
      `${reports.length} suites in ${minutes} min, ${missed} targets missed; load ${load.toFixed(1)} at the end\n`,
    );
  }
  return missed > 0 ? 1 : 0;
}

async function check({ json, rounds }: BenchOptions): Promise<number> {
  const { version: node } = process;
  const baseline = parseBaseline('bench/baseline.json', readFileSync(baselinePath, 'utf8'));
  const missing = await missingFor(guards, loadSuite);
  const findings = await checkGuards(guards, baseline, { ...means(rounds), node });
  progress?.('');
  process.stdout.write(
    json ? `${JSON.stringify({ node, findings, missing }, undefined, 2)}\n` : textOfFindings(findings, missing),
  );
  return findings.some(({ ok }) => ok === false) ? 1 : 0;
}

async function record({ json, rounds }: BenchOptions): Promise<number> {
  const missing = await missingFor(guards, loadSuite);
  if (missing.length > 0) {
    throw new RangeError(`Expected all peers to record a baseline, missing ${missing.join(', ')}; \`${howToInstall}\``);
  }
  const ratios = Object.fromEntries(await measureGuards(guards, means(rounds)));
  progress?.('');
  const text = formatBaseline({ node: process.version, ratios });
  writeFileSync(baselinePath, text);
  process.stdout.write(json ? text : `${Object.keys(ratios).length} ratios recorded in bench/baseline.json\n`);
  return 0;
}

function means(rounds: number) {
  return { rounds, meter: processMeter(), isolate, progress, loadSuite };
}
