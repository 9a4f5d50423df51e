/** Most ids that are told apart; later ones are counted each. */
const mostIds = 10_000;

/** Counts calls by their ids: one is told in several messages. */
export class CallCount {
  readonly #ids = new Set<unknown>();
  #more = 0;

  get count(): number {
    return this.#ids.size + this.#more;
  }

  take(id: unknown): void {
    if (this.#ids.has(id)) return;
    if (this.#ids.size < mostIds) this.#ids.add(id);
    else this.#more++;
  }
}
