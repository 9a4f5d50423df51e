import type { Result } from './play.ts';
import { report } from './report.ts';
import { shrink } from './shrink.ts';
import { type SeedOptions, type SimulatedKind, worlds } from './worlds.ts';

/** Sums of what was played. */
export class Tally {
  seeds = 0;
  calls = 0;
  simulatedMs = 0;
  readonly failed: string[] = [];
  readonly #startedAt = performance.now();

  add({ seeds = 1, calls, simulatedMs }: Pick<Result, 'calls' | 'simulatedMs'> & { readonly seeds?: number }): void {
    this.seeds += seeds;
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

/** Seeds of one world, one after the other. */
export interface SeedRange {
  /** Of the world. */
  readonly option: string;
  readonly first: number;
  readonly count: number;
}

/** Sums of seeds, with the words on those that broke a promise. */
export interface PlayedRange extends Pick<Tally, 'seeds' | 'calls' | 'simulatedMs' | 'failed'> {
  readonly said: string;
}

const loaded = new Set<string>();

export async function playRange({ option, first, count }: SeedRange): Promise<PlayedRange> {
  const kind = worlds.find((each) => each.option === option);
  if (kind === undefined) throw new RangeError(`Expected the option of a world, got ${option}`);
  if (!loaded.has(option)) await kind.load?.();
  loaded.add(option);
  const tally = new Tally();
  let said = '';
  for (let seed = first; seed < first + count; seed++) await runSeed(kind, { seed }, tally, (text) => (said += text));
  const { seeds, calls, simulatedMs, failed } = tally;
  return { seeds, calls, simulatedMs, failed, said };
}
