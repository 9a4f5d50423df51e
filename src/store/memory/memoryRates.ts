import { type RateGrant, type RateOrder, takeFrom } from '../../policy/rateLimit.ts';
import { forgetRatesMs, type RateStates } from '../rates.ts';
import type { MemoryDatabase } from './memoryDatabase.ts';

/** Buckets of rate limits in memory, by the rules of the file. */
export class MemoryRates implements RateStates {
  readonly #rates: MemoryDatabase['rates'];

  constructor({ rates }: MemoryDatabase) {
    this.#rates = rates;
  }

  draw(key: string, order: RateOrder, wallNow: number): RateGrant {
    const known = this.#rates.get(key);
    const grant = takeFrom(known?.levels ?? {}, order, wallNow);
    if (Object.keys(grant.levels).length > 0) {
      if (known === undefined) this.#forget(wallNow);
      this.#rates.set(key, { levels: grant.levels, at: wallNow });
    }
    return grant;
  }

  note(key: string, order: RateOrder, wallNow: number): void {
    this.draw(key, order, wallNow);
  }

  #forget(wallNow: number): void {
    for (const [key, { at }] of this.#rates) if (at < wallNow - forgetRatesMs) this.#rates.delete(key);
  }
}
