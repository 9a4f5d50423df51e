import { parseArgs } from 'node:util';
import { simulatePayments } from './payments/simulatePayments.ts';
import { report } from './report.ts';
import type { Result } from './play.ts';
import { simulate } from './simulate.ts';
import type { StoreResult } from './store/runNodes.ts';
import { simulateSessions } from './store/simulateSessions.ts';
import { simulateShared } from './store/simulateShared.ts';
import { simulateStore } from './store/simulateStore.ts';

const usage = `Usage: npm run simulate -- [--seeds N] [--seed S] [--payments | --store | --sessions | --shared] [--verbose]

Runs integrations and sessions on simulated time with seeded faults, and checks the runtime's promises after every step.

  --seeds N    how many seeds, from 1 on (default 500)
  --seed S     this seed alone; with --seeds, the first of them
  --payments   calls whose answers are lost, their reconcile rules, and a gateway that is killed, in place of all else
  --store      stores of several nodes on one simulated PostgreSQL, whose statements fail and whose connections tear, in place of all else
  --sessions   sessions of several gateways on one such database, to which messages are sent everywhere, in place of all else
  --shared     breakers, rate limits, alerts and events of several nodes on one such database, in place of all else
  --verbose    every line of the trace

Exits 1 when a promise was not kept, 2 when an option is wrong.`;

process.exitCode = await run(process.argv.slice(2));

async function run(words: string[]): Promise<number> {
  let options: Options;
  try {
    options = parse(words);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const { first, count, payments, verbose, help } = options;
  if (help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (options.store) return runStores('--store', simulateStore, first, count);
  if (options.shared) return runStores('--shared', simulateShared, first, count);
  if (options.sessions) return runStores('--sessions', simulateSessions, first, count);
  const failed: Result[] = [];
  let lines = 0;
  let simulatedMs = 0;
  for (let seed = first; seed < first + count; seed++) {
    const heard = verbose ? (line: string): void => void process.stdout.write(`${line}\n`) : undefined;
    const result = await (payments ? simulatePayments : simulate)({ seed, heard });
    lines += result.lines;
    simulatedMs += result.simulatedMs;
    if (result.violation === undefined) continue;
    failed.push(result);
    process.stdout.write(`${report(result, payments ? '--payments ' : '')}\n\n`);
  }
  const hours = (simulatedMs / 3_600_000).toFixed(1);
  process.stdout.write(`${count} seeds, ${hours} simulated hours, ${lines} lines of trace: ${failed.length} failed\n`);
  if (failed.length > 0) process.stdout.write(`failed: ${failed.map(({ seed }) => seed).join(' ')}\n`);
  return failed.length > 0 ? 1 : 0;
}

async function runStores(
  option: string,
  run: (options: { readonly seed: number }) => Promise<StoreResult>,
  first: number,
  count: number,
): Promise<number> {
  const failed: number[] = [];
  let statements = 0;
  let simulatedMs = 0;
  for (let seed = first; seed < first + count; seed++) {
    const result = await run({ seed });
    statements += result.statements;
    simulatedMs += result.simulatedMs;
    if (result.violation === undefined) continue;
    failed.push(seed);
    process.stdout.write(`seed ${seed}: ${result.violation}\nreplay: npm run simulate -- ${option} --seed ${seed}\n\n`);
  }
  const hours = (simulatedMs / 3_600_000).toFixed(1);
  process.stdout.write(`${count} seeds, ${hours} simulated hours, ${statements} statements: ${failed.length} failed\n`);
  return failed.length > 0 ? 1 : 0;
}

interface Options {
  readonly first: number;
  readonly count: number;
  readonly payments: boolean;
  readonly store: boolean;
  readonly sessions: boolean;
  readonly shared: boolean;
  readonly verbose: boolean;
  readonly help: boolean;
}

function parse(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      payments: { type: 'boolean', default: false },
      store: { type: 'boolean', default: false },
      sessions: { type: 'boolean', default: false },
      shared: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const first = values.seed === undefined ? 1 : integer('--seed', values.seed, 0);
  const count =
    values.seeds === undefined ? (values.seed === undefined ? 500 : 1) : integer('--seeds', values.seeds, 1);
  const { payments, store, sessions, shared, verbose, help } = values;
  return { first, count, payments, store, sessions, shared, verbose, help };
}

function integer(name: string, text: string, min: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < min || text.trim() === '') {
    throw new RangeError(`Expected ${name} to be an integer of at least ${min}, got ${JSON.stringify(text)}`);
  }
  return value;
}
