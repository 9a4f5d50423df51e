import { seededRandom } from '../../testing/random.ts';
import { faults, type Fault, type Harm, playRound, type Round, type Seen } from './round.ts';
import { type Verdicts, worse } from './suite.ts';
import { bare, type Way } from './ways.ts';

export interface FireOptions {
  readonly ways: readonly Way[];
  readonly seed: number;
  /** How many runs of one scenario each, for each way; else one for each of its boundaries and faults. */
  readonly rounds?: number | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Scenarios by name, else all. */
  readonly scenarios?: readonly string[] | undefined;
  /** Entry of another version of the suite. */
  readonly suite?: string | undefined;
  /** Runs at a time. @defaultValue 2 */
  readonly atOnce?: number | undefined;
  readonly progress?: ((line: string) => void) | undefined;
  /** Plays one run. @defaultValue `playRound` */
  readonly play?: ((round: Round) => Promise<Seen>) | undefined;
}

/** What one run under a fault came to, beside the server itself that nothing happened to. */
export interface Cell {
  readonly way: string;
  readonly fault: Fault;
  readonly at: number;
  readonly scenario: string;
  readonly reads: boolean;
  /** Where the fault fell; a run that had fewer boundaries than before has none. */
  readonly harm?: Harm | undefined;
  /** Verdicts that are worse. */
  readonly worse: Verdicts;
  readonly said?: string | undefined;
  readonly explained?: Explanation | undefined;
}

/**
 * Why a verdict is worse. `lost`: a call was under way whose tool may act, and was answered as such. `unheard`: the same of a tool that only reads, whose
 * server had not said so by then, as its client had not asked. `start`: the server hung in its handshake, which is answered with an error at the limit of a
 * start; the next request starts it again.
 */
type Explanation = 'lost' | 'unheard' | 'start';

export interface WayReport {
  readonly way: string;
  /** Verdicts without any fault that are worse than those of the server itself. */
  readonly without: Verdicts;
  readonly cells: readonly Cell[];
}

/** Plays every way without faults, then under them; each run is compared with the server itself that nothing happens to. */
export async function fire(options: FireOptions): Promise<readonly WayReport[]> {
  const { ways, seed, progress = () => undefined, play = playRound, suite } = options;
  const base = await steady({ way: bare, fault: 'none', at: 0, suite }, play);
  progress(`bare: ${Object.keys(base.verdicts).length} verdicts`);
  const reports: WayReport[] = [];
  for (const way of ways) {
    const seen =
      way.name === bare.name ? base : await steady({ way, fault: 'none', at: 0, suite }, play, base.verdicts);
    const without = worse(seen.verdicts, base.verdicts);
    for (const [check, verdict] of Object.entries(without))
      progress(`${way.name}: ${check} ${verdict} ${seen.said[check.split('/')[0] ?? '']}`);
    progress(`${way.name}: ${Object.keys(seen.verdicts).length} verdicts, ${Object.keys(without).length} worse`);
    const random = seededRandom(seed);
    // Those that are drawn are the same for each way: they are of the server's own boundaries.
    const all = roundsOf(way, options.rounds === undefined ? seen : base, options);
    const drawn = options.rounds === undefined ? all : sample(all, options.rounds, random);
    reports.push({ way: way.name, without, cells: await playAll(drawn, base.verdicts, options) });
  }
  return reports;
}

/** The suite without a fault; once more where a verdict is worse, or a scenario has none: on a busy machine its limits pass. */
async function steady(round: Round, play: (round: Round) => Promise<Seen>, wanted?: Verdicts): Promise<Seen> {
  const first = await play(round);
  const isBad =
    wanted === undefined
      ? Object.values(first.verdicts).includes('FAILURE')
      : Object.keys(worse(first.verdicts, wanted)).length > 0;
  if (!isBad) return first;
  const again = await play(round);
  const bad = worse(again.verdicts, first.verdicts);
  const better = Object.fromEntries(Object.keys(bad).map((check) => [check, first.verdicts[check] ?? 'none']));
  return { ...again, verdicts: { ...again.verdicts, ...better } };
}

function roundsOf(way: Way, { boundaries }: Seen, options: FireOptions): readonly Cut[] {
  const named = Object.entries(boundaries).filter(([name]) => options.scenarios?.includes(name) ?? true);
  return named.flatMap(([scenario, count]) =>
    Array.from({ length: count }, (_, index) => index + 1).flatMap((at) =>
      (options.faults ?? faults).flatMap((fault) =>
        [false, true].map((reads): Cut => ({ way, fault, at, scenario, reads, suite: options.suite })),
      ),
    ),
  );
}

type Cut = Round & { readonly fault: Fault; readonly scenario: string; readonly reads: boolean };

function sample<T>(all: readonly T[], count: number, random: () => number): readonly T[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

async function playAll(rounds: readonly Cut[], base: Verdicts, options: FireOptions): Promise<readonly Cell[]> {
  const left = [...rounds];
  const cells: Cell[] = [];
  const worker = async (): Promise<void> => {
    for (let round = left.shift(); round !== undefined; round = left.shift()) {
      const cell = judged(round, await (options.play ?? playRound)(round), base);
      cells.push(cell);
      if (Object.keys(cell.worse).length > 0) options.progress?.(JSON.stringify(cell));
    }
  };
  await Promise.all(Array.from({ length: options.atOnce ?? 2 }, worker));
  return cells;
}

function judged({ way, fault, at, scenario, reads }: Cut, seen: Seen, base: Verdicts): Cell {
  const own = Object.fromEntries(Object.entries(base).filter(([check]) => check.startsWith(`${scenario}/`)));
  const bad = worse(seen.verdicts, own);
  const harm = seen.harms[scenario];
  const isWorse = Object.keys(bad).length > 0;
  const said = seen.said[scenario] ?? (isWorse ? seen.printed.slice(-300) : undefined);
  return {
    way: way.name,
    fault,
    at,
    scenario,
    reads,
    harm,
    worse: bad,
    said,
    ...(isWorse && { explained: explain(fault, reads, harm, said) }),
  };
}

function explain(fault: Fault, reads: boolean, harm: Harm | undefined, said = ''): Explanation | undefined {
  // A call that is lost is told as such: one that nobody answers is explained by nothing.
  if (harm === undefined || said.includes('timed out')) return undefined;
  if (fault === 'hang' && harm.untold === 'handshake') return 'start';
  if (harm.underWay === undefined) return undefined;
  if (!reads) return 'lost';
  return harm.untold === undefined ? undefined : 'unheard';
}

/** Cells that are worse, and that no call under way explains. */
export const unexplained = ({ cells }: WayReport): readonly Cell[] =>
  cells.filter((cell) => Object.keys(cell.worse).length > 0 && cell.explained === undefined);

/** A table of Markdown: a line for each way, a column for each fault. */
export function table(reports: readonly WayReport[]): string {
  const cell = ({ cells }: WayReport, fault: Fault): string => {
    const of = cells.filter((each) => each.fault === fault && each.harm !== undefined);
    const bad = of.filter((each) => Object.keys(each.worse).length > 0);
    const explained = bad.filter((each) => each.explained !== undefined);
    return `${of.length}: ${bad.length - explained.length} worse, ${explained.length} explained`;
  };
  const rows = reports.map((report) => [
    report.way,
    `${Object.keys(report.without).length}`,
    ...faults.map((fault) => cell(report, fault)),
  ]);
  const head = ['before the server', 'worse without a fault', ...faults];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
