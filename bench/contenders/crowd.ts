import type { Contender, Running } from './contender.ts';

/** Calls whose work waits for one moment, which comes when all are in flight. */
export class Crowd {
  readonly #release: () => void;
  readonly #moment: Promise<void>;
  readonly #calls: Promise<unknown>[] = [];
  readonly running: Running;

  /** Makes a contender ready whose calls wait. */
  static async gather(contender: Contender): Promise<Crowd> {
    let release = (): void => {};
    const moment = new Promise<void>((resolve) => {
      release = resolve;
    });
    const work = async (input: number): Promise<number> => {
      await moment;
      return input;
    };
    return new Crowd(await contender.start({ work }), moment, release);
  }

  private constructor(running: Running, moment: Promise<void>, release: () => void) {
    this.running = running;
    this.#moment = moment;
    this.#release = release;
  }

  /** @param signal - by which the caller may end all of them. */
  start(count: number, signal?: AbortSignal): void {
    for (let input = 0; input < count; input++) this.#calls.push(this.running.call(input, signal));
  }

  /** Lets the work of all answer, and waits until each call has ended, in whatever way. */
  async settle(): Promise<void> {
    this.#release();
    await this.#moment;
    await Promise.allSettled(this.#calls);
    this.#calls.length = 0;
  }
}
