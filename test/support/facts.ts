import type { Fact, FactOf, Facts, FactType } from '../../src/policy/facts.ts';

/** Keeps what was told, for tests to look at. */
export class RecordedFacts implements Facts {
  readonly all: Fact[] = [];

  tell(fact: Fact): void {
    this.all.push(fact);
  }

  wants(): boolean {
    return true;
  }

  of<T extends FactType>(type: T): FactOf<T>[] {
    return this.all.filter((fact): fact is FactOf<T> => fact.type === type);
  }
}
