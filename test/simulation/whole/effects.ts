import type { WholeWorld } from './wholeWorld.ts';

/** What programs did to the world, by the token of the request: what must be done once, was it done twice? */
export class Effects {
  readonly #world: WholeWorld;
  readonly #times = new Map<string, number>();

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  /** Something is done. @param isOnce - whether it must not be done again. */
  done(token: string, isOnce: boolean): void {
    const times = this.times(token) + 1;
    this.#times.set(token, times);
    this.#world.trace.note(`  done: ${token}`);
    this.#world.judge.expect(!isOnce || times === 1, 'R-12', () => `${token} is done ${times} times`);
  }

  times(token: string): number {
    return this.#times.get(token) ?? 0;
  }
}
