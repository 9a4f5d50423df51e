/** Places of a plan that may be taken, the first of the plan first: a binary heap of numbers. */
export class ReadyItems {
  readonly #heap: number[] = [];

  add(place: number): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(place);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if ((heap[above] ?? 0) <= place) break;
      heap[at] = heap[above] ?? 0;
      at = above;
    }
    heap[at] = place;
  }

  take(): number | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const less = (heap[left + 1] ?? Number.POSITIVE_INFINITY) < (heap[left] ?? 0) ? left + 1 : left;
      if ((heap[less] ?? 0) >= last) break;
      heap[at] = heap[less] ?? 0;
      at = less;
    }
    heap[at] = last;
    return first;
  }
}
