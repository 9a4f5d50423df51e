import type { Fact, FactOf, FactType, KeptFacts } from '../../src/policy/facts/facts.ts';

/** Keeps what was told, for tests to look at. */
export class RecordedFacts implements KeptFacts {
  readonly all: Fact[] = [];

  tell(fact: Fact): void {
    this.all.push(fact);
  }

  masked<F extends Fact>(fact: F): F {
    return fact;
  }

  wants(): boolean {
    return true;
  }

  of<T extends FactType>(type: T): FactOf<T>[] {
    return this.all.filter((fact): fact is FactOf<T> => fact.type === type);
  }
}
