import { availableParallelism } from 'node:os';
import { isolate } from './harness/isolate.ts';
import { processMeter } from './harness/meter.ts';
import { type BenchOptions, parseOptions } from './harness/options.ts';
import { type SuiteReport, reportOf, textOf } from './harness/report.ts';
import { runSuite } from './harness/rounds.ts';
import { loadSuite, suiteNames } from './suites.ts';

const usage = `Usage: npm run bench -- [SUITE…] [--json] [--rounds N] [--quick]

Measures subjects side by side in rounds and prints, for each figure, its minimum and (median), and the ratio of the
minima against the suite's baseline. Times are CPU time and wall time for each thing done.

  SUITE        ${suiteNames.join(', ')} (default: all)
  --rounds N   how often each case is measured, 1 to 1000 (default 5; with --quick 2)
  --quick      leaves out the long cases; targets that need them are not judged
  --json       the samples too, for machines (with npm run --silent)

Exits 1 when a target was missed, 2 when an option is wrong.`;

process.exitCode = await run(process.argv.slice(2));

async function run(words: readonly string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = parseOptions(words, suiteNames);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const { suites, json, rounds, quick } = options;
  const meter = processMeter();
  const progress = process.stderr.isTTY ? (text: string) => void process.stderr.write(`\r\x1b[K${text}`) : undefined;
  const reports: SuiteReport[] = [];
  for (const name of suites) {
    const suite = await loadSuite(name);
    const report = reportOf(suite, await runSuite(suite, { rounds, quick, meter, isolate, progress }));
    progress?.('');
    reports.push(report);
    if (!json) process.stdout.write(`${textOf(suite, report)}\n`);
  }
  const machine = { node: process.version, cpus: availableParallelism() };
  if (json) process.stdout.write(`${JSON.stringify({ ...machine, rounds, quick, suites: reports }, undefined, 2)}\n`);
  return reports.some(({ targets }) => targets.some(({ met }) => met === false)) ? 1 : 0;
}
