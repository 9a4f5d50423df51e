import type { Costs } from '../policy/rateLimit.ts';

/** So many attempts make a mean. */
const mostSamples = 8;

interface Mean {
  readonly value: number;
  readonly samples: number;
}

/** Real costs of the attempts of an integration of late, in the mean: for those of which nobody says it in advance. */
export class TypicalCosts {
  readonly #means = new Map<string, Mean>();

  /** By name; without what no attempt has told yet. */
  get all(): Costs {
    return Object.fromEntries(Array.from(this.#means, ([name, { value }]) => [name, value]));
  }

  /** An attempt says for the first time what it cost. @returns the weight of that. */
  add(name: string, cost: number): number {
    const { value, samples } = this.#means.get(name) ?? { value: 0, samples: 0 };
    const weight = 1 / Math.min(samples + 1, mostSamples);
    this.#means.set(name, { value: value + (cost - value) * weight, samples: samples + 1 });
    return weight;
  }

  /** It has another word, so much higher. @param weight - of its first word. */
  correct(name: string, by: number, weight: number): void {
    const mean = this.#means.get(name);
    if (mean !== undefined) this.#means.set(name, { ...mean, value: Math.max(0, mean.value + by * weight) });
  }
}
