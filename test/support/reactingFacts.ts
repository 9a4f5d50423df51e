import type { Fact, FactOf, FactType } from '../../src/policy/facts/facts.ts';
import { RecordedFacts } from './facts.ts';

/** Facts with listeners that act at once, in the middle of what is being told. */
export class ReactingFacts extends RecordedFacts {
  readonly #reactions: { readonly type: FactType; readonly react: (fact: Fact) => void }[] = [];

  override tell(fact: Fact): void {
    super.tell(fact);
    for (const { type, react } of this.#reactions) if (type === fact.type) react(fact);
  }

  on<T extends FactType>(type: T, react: (fact: FactOf<T>) => void): void {
    this.#reactions.push({ type, react: react as (fact: Fact) => void });
  }

  /** Reacts to the next one only. */
  once<T extends FactType>(type: T, react: (fact: FactOf<T>) => void): void {
    let done = false;
    this.on(type, (fact) => {
      if (done) return;
      done = true;
      react(fact);
    });
  }
}
