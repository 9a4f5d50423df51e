import type { Outcome } from '../../../src/policy/failures/failure.ts';
import type { WholeWorld } from './wholeWorld.ts';

interface Open {
  readonly what: string;
  dueAt: number;
}

/** What was asked of the runtime and has not ended: each ends exactly once, at its time at the latest (I-1). */
export class Asked {
  readonly #world: WholeWorld;
  readonly #open = new Set<Open>();

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Something is asked. @param limitMs - in which it has to end. @returns to be called at its end, with what it came to. */
  begin(what: string, limitMs: number): (came: string) => void {
    const { clock, judge, trace } = this.#world;
    const open: Open = { what, dueAt: clock.now() + limitMs };
    let ended = 0;
    this.#world.calls++;
    this.#open.add(open);
    trace.note(`${what} within ${limitMs}`);
    return (came) => {
      trace.note(`${what} ends: ${came}`);
      const isOurs = this.#open.delete(open) || ended > 0;
      judge.expect(++ended === 1 || !isOurs, 'I-1', () => `${what} ends ${ended} times`);
      judge.expect(
        !isOurs || !judge.overdue(open.dueAt),
        'I-1',
        () => `${what} ends late, it was due at ${open.dueAt}`,
      );
    };
  }

  check(): void {
    const { judge } = this.#world;
    for (const { what, dueAt } of this.#open)
      judge.expect(!judge.overdue(dueAt), 'I-1', () => `${what} was due at ${dueAt} and has not ended`);
  }

  /** Who asked hears nothing for now: no end is late. */
  excuse(): void {
    for (const open of this.#open) open.dueAt = Number.POSITIVE_INFINITY;
  }

  /** The host was killed: nobody hears of the end. */
  forget(): void {
    this.#open.clear();
  }
}

/** What an outcome is called in the trace. */
export function wordOfOutcome(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'ok' : `${outcome.failure.kind}/${outcome.failure.reason ?? ''}`;
}
