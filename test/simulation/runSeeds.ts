import type { Result } from './play.ts';
import { report } from './report.ts';
import { shrink } from './shrink.ts';
import type { SeedOptions, SimulatedKind } from './worlds.ts';

/** Sums of what was played. */
export class Tally {
  seeds = 0;
  calls = 0;
  simulatedMs = 0;
  readonly failed: string[] = [];
  readonly #startedAt = performance.now();

  add({ calls, simulatedMs }: Result): void {
    this.seeds++;
    this.calls += calls;
    this.simulatedMs += simulatedMs;
  }

  /** The sums in a line: seeds, calls, simulated hours, and the speed of both. */
  line(): string {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const hours = this.simulatedMs / 3_600_000;
    const speed = `${Math.round(this.calls / seconds)} calls and ${(hours / seconds).toFixed(1)} simulated hours a second`;
    return `${this.seeds} seeds, ${this.calls} calls, ${hours.toFixed(1)} simulated hours, ${speed}: ${this.failed.length} failed`;
  }
}

/**
 * Plays one seed; of one that breaks a promise the fewest faults are looked for and told, with the command that plays them.
 * @param asItIs - they are not looked for.
 */
export async function runSeed(
  kind: SimulatedKind,
  options: SeedOptions,
  tally: Tally,
  say: (text: string) => void,
  asItIs = options.only !== undefined,
): Promise<void> {
  const result = await kind.play(options);
  tally.add(result);
  if (result.violation === undefined) return;
  const { seed } = options;
  const words = kind.option === '' ? '' : `${kind.option} `;
  const fewest = asItIs ? undefined : await shrink(result, (only) => kind.play({ seed, only }));
  tally.failed.push(`${words}--seed ${seed}`);
  say(`${report(fewest ?? { ...result, only: options.only }, words)}\n\n`);
}

/** Plays the worlds in turn, each its share of seeds, until so many calls were made, or the time is over. */
export async function runAll(
  kinds: readonly SimulatedKind[],
  { first, calls, seconds }: { readonly first: number; readonly calls: number; readonly seconds: number },
  say: (text: string) => void,
): Promise<Tally> {
  const tally = new Tally();
  const startedAt = performance.now();
  const next = new Map(kinds.map((kind) => [kind, first]));
  const isOver = (): boolean => tally.calls >= calls || performance.now() - startedAt > seconds * 1000;
  for (const kind of kinds) if (kind.share > 0) await kind.load?.();
  while (!isOver()) {
    for (const kind of kinds) {
      for (let left = kind.share; left > 0 && !isOver(); left--) {
        const seed = next.get(kind) ?? first;
        next.set(kind, seed + 1);
        await runSeed(kind, { seed }, tally, say);
      }
    }
  }
  return tally;
}
