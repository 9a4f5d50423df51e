import { parseArgs } from 'node:util';
import { runAll } from './runAll.ts';
import { runSeed, Tally } from './runSeeds.ts';
import { type SimulatedKind, worlds } from './worlds.ts';

const list = worlds.map(({ option, about }) => `  ${(option || '(none)').padEnd(16)} ${about}`).join('\n');
const shares = worlds
  .filter(({ perMillion }) => perMillion > 0)
  .map(({ option, perMillion }) => `${perMillion} seeds of ${option}`)
  .join(', ');
const usage = `Usage: npm run simulate -- [WORLD] [--seeds N] [--seed S] [--only N,N,…] [--verbose]
       npm run simulate -- --all [--calls N] [--seconds N] [--seed S] [--jobs N]

Runs what is named on simulated time with seeded faults, and checks the runtime's promises after every step. Each seed ends with all
faults stopped: within a bound everything converges. A seed that fails is played again with ever fewer of its faults, and the fewest are told.

${list}
  --all            all of them: for a million calls ${shares}; the rest are calls of (none)
  --calls N        with --all: until so many calls were made (default 1000000)
  --seconds N      with --all: no longer than that (default: no limit)
  --jobs N         with --all: in so many processes; the sums are the same (default 1)
  --seeds N        how many seeds, from 1 on (default 500)
  --seed S         this seed alone; with --seeds or --all, the first of them
  --only N,N,…     of the planned faults and requests those alone, by their numbers; \`none\`
  --first          ends with the first seed that fails, as it failed
  --verbose        every line of the trace

Exits 1 when a promise was not kept, 2 when an option is wrong.`;

const say = (text: string): void => void process.stdout.write(text);

// What a killed life had begun, the client of MCP waits for on timers of its own.
process.exit(await run(process.argv.slice(2)));

async function run(words: string[]): Promise<number> {
  let options: ReturnType<typeof parse>;
  try {
    options = parse(words);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const { first, count, kind, only } = options;
  if (options.help) {
    say(`${usage}\n`);
    return 0;
  }
  let tally = new Tally();
  if (options.all) tally = await runAll(options, say);
  else {
    await kind.load?.();
    const heard = options.verbose ? (line: string): void => say(`${line}\n`) : undefined;
    for (let seed = first; seed < first + count && !(options.once && tally.failed.length > 0); seed++)
      await runSeed(kind, { seed, only, heard }, tally, say, options.once);
  }
  say(`${tally.line()}\n`);
  if (tally.failed.length > 0) say(`failed: ${tally.failed.join(', ')}\n`);
  return tally.failed.length > 0 ? 1 : 0;
}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const word = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      ...{ seeds: word, seed: word, only: word, part: word, calls: word, seconds: word, jobs: word },
      ...{
        payments: flag,
        store: flag,
        sessions: flag,
        shared: flag,
        whole: flag,
        all: flag,
        first: flag,
        verbose: flag,
      },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { seed, seeds, only, calls, seconds, jobs, part, all, verbose, help } = values;
  const names = ['payments', 'store', 'sessions', 'shared', 'whole'] as const;
  const options = [
    ...names.filter((name) => values[name]).map((name) => `--${name}`),
    ...(part ? [`--part ${part}`] : []),
  ];
  if (options.length > 1) throw new RangeError(`Expected one world, got ${options.join(' and ')}`);
  const kind = worlds.find(({ option }) => option === (options[0] ?? ''));
  if (kind === undefined) throw new RangeError(`Expected \`--part\` to be one of those that are listed, got ${part}`);
  return {
    ...{ kind: kind satisfies SimulatedKind, all, verbose, help, once: values.first },
    first: seed === undefined ? 1 : integer('--seed', seed, 0),
    count: seeds === undefined ? (seed === undefined ? 500 : 1) : integer('--seeds', seeds, 1),
    calls: integer('--calls', calls ?? '1000000', 1),
    seconds: seconds === undefined ? Number.POSITIVE_INFINITY : integer('--seconds', seconds, 1),
    jobs: integer('--jobs', jobs ?? '1', 1),
    only: only?.split(',').flatMap((text) => (text === 'none' ? [] : [integer('--only', text, 0)])),
  };
}

function integer(name: string, text: string, min: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < min || text.trim() === '') {
    throw new RangeError(`Expected ${name} to be an integer of at least ${min}, got ${JSON.stringify(text)}`);
  }
  return value;
}
