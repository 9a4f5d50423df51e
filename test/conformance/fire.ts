import { seededRandom } from '../../testing/random.ts';
import { type Cell, type Cut, isUnexplained, judged, nameOf } from './cell.ts';
import type { Kept } from './kept.ts';
import { faults, type Fault, playRound, type Round, type Seen } from './round.ts';
import { type Verdicts, worse } from './suite.ts';
import { bare, type Way } from './ways.ts';
import { endWorkers } from './worker.ts';

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
  /** Begins no run after so many ms. @defaultValue it plays all */
  readonly forMs?: number | undefined;
  /** Runs that earlier parts have seen, which are not played again, and their keeper. @defaultValue none */
  readonly kept?: Kept | undefined;
  /** Plays one run. @defaultValue `playRound` */
  readonly play?: ((round: Round) => Promise<Seen>) | undefined;
}

export interface WayReport {
  readonly way: string;
  /** Verdicts without any fault that are worse than those of the server itself. */
  readonly without: Verdicts;
  /** Runs under a fault that belong to it; fewer were played where its time was short. */
  readonly rounds: number;
  readonly cells: readonly Cell[];
}

/** Plays every way without faults, then under them; each run is compared with the server itself that nothing happens to. */
export async function fire(options: FireOptions): Promise<readonly WayReport[]> {
  if (options.ways.length === 0) return [];
  const until = performance.now() + (options.forMs ?? Number.POSITIVE_INFINITY);
  try {
    const base = await baseOf(bare, undefined, options);
    const reports: WayReport[] = [];
    for (const way of options.ways) {
      const seen = way.name === bare.name ? base : await baseOf(way, base, options);
      const without = worse(seen.verdicts, base.verdicts);
      // Those that are drawn are the same for each way: they are of the server's own boundaries.
      const all = roundsOf(way, options.rounds === undefined ? seen : base, options);
      const drawn = options.rounds === undefined ? all : sample(all, options.rounds, seededRandom(options.seed));
      reports.push({
        way: way.name,
        without,
        rounds: drawn.length,
        cells: await playAll(drawn, base.verdicts, options, until),
      });
    }
    return reports;
  } finally {
    endWorkers();
  }
}

/** A way without a fault. */
async function baseOf(way: Way, base: Seen | undefined, options: FireOptions): Promise<Seen> {
  const { play = playRound, progress = () => undefined, suite, kept } = options;
  const known = kept?.seen(way.name);
  if (known !== undefined) return known;
  const seen = await steady({ way, fault: 'none', at: 0, suite }, play, base?.verdicts);
  const without = worse(seen.verdicts, base?.verdicts ?? {});
  for (const [check, verdict] of Object.entries(without))
    progress(`${way.name}: ${check} ${verdict} ${seen.said[check.split('/')[0] ?? '']}`);
  progress(`${way.name}: ${Object.keys(seen.verdicts).length} verdicts, ${Object.keys(without).length} worse`);
  kept?.keep({ way: way.name, seen });
  return seen;
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

function roundsOf(way: Way, { boundaries, calling }: Seen, options: FireOptions): readonly Cut[] {
  const named = Object.entries(boundaries).filter(([name]) => options.scenarios?.includes(name) ?? true);
  return named.flatMap(([scenario, count]) =>
    Array.from({ length: count }, (_, index) => index + 1).flatMap((at) =>
      (options.faults ?? faults).flatMap((fault) =>
        // Without a call there is nothing that a tool would say of itself.
        (calling.includes(scenario) ? [false, true] : [false]).map(
          (reads): Cut => ({ way, fault, at, scenario, reads, suite: options.suite }),
        ),
      ),
    ),
  );
}

function sample<T>(all: readonly T[], count: number, random: () => number): readonly T[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

async function playAll(
  rounds: readonly Cut[],
  base: Verdicts,
  options: FireOptions,
  until: number,
): Promise<readonly Cell[]> {
  const { kept, play = playRound, progress } = options;
  const cells = rounds.flatMap((round) => kept?.cell(nameOf(round)) ?? []);
  const left = rounds.filter((round) => kept?.cell(nameOf(round)) === undefined);
  const worker = async (): Promise<void> => {
    for (let round = left.shift(); round !== undefined && performance.now() < until; round = left.shift()) {
      const first = judged(round, await play(round), base);
      // On a busy machine its limits pass: it is told as worse once.
      const again = isUnexplained(first) ? judged(round, await play(round), base) : first;
      const isOnce = isUnexplained(first) && !isUnexplained(again);
      const cell: Cell = isOnce ? { ...again, once: `${JSON.stringify(first.harm)} ${first.said}` } : again;
      cells.push(cell);
      kept?.keep({ cell });
      if (isOnce || Object.keys(cell.worse).length > 0) progress?.(JSON.stringify(cell));
    }
  };
  await Promise.all(Array.from({ length: options.atOnce ?? 2 }, worker));
  return cells;
}

/** Cells that are worse, and that no call under way explains. */
export const unexplained = ({ cells }: WayReport): readonly Cell[] => cells.filter(isUnexplained);

/** A table of Markdown: a line for each way, a column for each fault. */
export function table(reports: readonly WayReport[]): string {
  const cell = ({ cells }: WayReport, fault: Fault): string => {
    const of = cells.filter((each) => each.fault === fault && each.harm !== undefined);
    const bad = of.filter((each) => Object.keys(each.worse).length > 0);
    const explained = bad.filter((each) => each.explained !== undefined);
    const once = of.filter((each) => each.once !== undefined).length;
    const told = `${of.length}: ${bad.length - explained.length} worse, ${explained.length} explained`;
    return once === 0 ? told : `${told}, ${once} once`;
  };
  const rows = reports.map((report) => [
    report.cells.length < report.rounds
      ? `${report.way} (${report.cells.length} of ${report.rounds} runs)`
      : report.way,
    `${Object.keys(report.without).length}`,
    ...faults.map((fault) => cell(report, fault)),
  ]);
  const head = ['before the server', 'worse without a fault', ...faults];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
