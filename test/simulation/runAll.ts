import { openHands } from './hands.ts';
import { type PlayedRange, type SeedRange, Tally } from './runSeeds.ts';
import { type SimulatedKind, worlds } from './worlds.ts';

export interface RunAllOptions {
  /** The first seed of each world. */
  readonly first: number;
  readonly calls: number;
  readonly seconds: number;
  /** Processes that play. @defaultValue this one alone */
  readonly jobs?: number;
}

/** Seeds that one world was given to play, with their sums. */
class Lot {
  readonly kind: SimulatedKind;
  /** Seeds that it is played for; undefined for the world that makes the rest of the calls. */
  readonly seeds: number | undefined;
  given = 0;
  readonly played: (PlayedRange | undefined)[] = [];

  constructor(kind: SimulatedKind, seeds: number | undefined) {
    this.kind = kind;
    this.seeds = seeds;
  }

  /** The next of its seeds. */
  take(first: number): SeedRange & { readonly at: number } {
    const { option, chunk } = this.kind;
    const count = Math.min(chunk, (this.seeds ?? Number.POSITIVE_INFINITY) - this.given);
    const range = { option, first: first + this.given, count, at: this.played.length };
    this.given += count;
    this.played.push(undefined);
    return range;
  }

  /** Those that are over, up to the first that is not: they are the same however many processes play. */
  get over(): readonly PlayedRange[] {
    const open = this.played.indexOf(undefined);
    return (open < 0 ? this.played : this.played.slice(0, open)) as readonly PlayedRange[];
  }

  get calls(): number {
    return this.over.reduce((sum, { calls }) => sum + calls, 0);
  }
}

/** Calls of a seed of the first world, about: by it the worlds keep step. */
const usualCalls = 95;

/**
 * Plays all worlds until so many calls were made, or the time is over: each world but the first has its seeds for a million calls, or its share of them, and
 * the first makes what is left. @returns the sums, which are the same for any number of processes unless the time was over.
 */
export async function runAll(
  { first, calls, seconds, jobs = 1 }: RunAllOptions,
  say: (text: string) => void,
): Promise<Tally> {
  const tally = new Tally();
  const lots = worlds.flatMap((kind, index) => {
    if (index === 0) return [new Lot(kind, undefined)];
    return kind.perMillion === 0 ? [] : [new Lot(kind, Math.max(1, Math.round((kind.perMillion * calls) / 1_000_000)))];
  });
  const [plain, ...others] = lots as [Lot, ...Lot[]];
  const startedAt = performance.now();
  const made = (): number => lots.reduce((sum, lot) => sum + lot.calls, 0);
  /** How much of what it is to play a world was given, from 0 to 1. */
  const progress = ({ seeds, given }: Lot): number => given / (seeds ?? calls / usualCalls);
  const next = (): (SeedRange & { at: number; lot: Lot }) | undefined => {
    if (performance.now() - startedAt > seconds * 1000) return undefined;
    const open = others.filter(({ seeds, given }) => given < (seeds ?? 0));
    if (made() < calls) open.push(plain);
    const [lot] = open.sort((one, other) => progress(one) - progress(other));
    return lot && { ...lot.take(first), lot };
  };
  const hands = openHands(jobs);
  await Promise.all(
    hands.map(async (hand) => {
      for (let range = next(); range !== undefined; range = next()) {
        const played = await hand.play(range);
        range.lot.played[range.at] = played;
        say(played.said);
        tally.failed.push(...played.failed);
      }
    }),
  );
  for (const hand of hands) hand.close();
  sum(others, plain, calls, tally, say);
  return tally;
}

/** Leaves out seeds that were played beyond the calls that were asked for. */
function sum(others: readonly Lot[], plain: Lot, calls: number, tally: Tally, say: (text: string) => void): void {
  for (const lot of [...others, plain]) {
    const own = new Tally();
    for (const played of lot.over) {
      if (lot === plain && tally.calls >= calls) break;
      own.add(played);
      tally.add(played);
    }
    const hours = (own.simulatedMs / 3_600_000).toFixed(1);
    say(
      `${(lot.kind.option || '(none)').padEnd(12)} ${own.seeds} seeds, ${own.calls} calls, ${hours} simulated hours\n`,
    );
  }
}
