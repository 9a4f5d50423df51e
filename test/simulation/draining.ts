import { Drain } from '../../src/runtime/drain.ts';
import type { World } from './world.ts';

/** A stop that lets what is under way end first, as a gateway's does, and whether it keeps its time. */
export class Draining {
  readonly #world: World;
  readonly #drain: Drain;
  #until = Number.POSITIVE_INFINITY;

  constructor(world: World) {
    const { sessions, integrations, runtime } = world;
    const drained = [...sessions.map(({ session }) => session), ...integrations.map(({ path }) => path)];
    this.#world = world;
    this.#drain = new Drain({
      clock: runtime.clock,
      deadlines: runtime.deadlines,
      tell(order) {
        for (const each of drained) each.drain(order);
      },
      isBusy: () => drained.some(({ busy }) => busy),
    });
  }

  get begun(): boolean {
    return this.#drain.begun;
  }

  /** Stops when what is under way has ended, or the time is over; a second time may make it shorter. */
  begin(ms: number): void {
    const { trace, clock } = this.#world;
    trace.note(`stop, with ${ms} for what is under way`);
    this.#until = Math.min(this.#until, clock.now() + ms);
    if (this.begun) this.#drain.shorten(ms);
    else {
      void this.#drain.begin(ms).then(() => {
        this.#judgeEnd();
        this.#world.stop();
      });
    }
  }

  check(): void {
    const { judge, stopped } = this.#world;
    const isLate = this.begun && !stopped && judge.overdue(this.#until);
    judge.expect(!isLate, 'I-3', () => `the stop waits for what is under way beyond ${this.#until}`);
  }

  /** What is cut had all the time that was promised. */
  #judgeEnd(): void {
    const { judge, clock, stopped, integrations } = this.#world;
    if (stopped || clock.now() >= this.#until) return;
    for (const { rows } of integrations) {
      const cut = [...rows.values()].find(({ outcome }) => outcome === undefined);
      judge.expect(cut === undefined, 'I-1', () => `${cut?.label} is cut before ${this.#until}`);
    }
  }
}
