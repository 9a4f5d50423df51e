import type { SoundPlan } from './plan.ts';
import type { WorkflowItemResult, WorkflowWorkItem } from './workflowTypes.ts';

/** The items of one plan: which may begin, and how each ended. */
export interface ItemTable<R> {
  readonly items: readonly WorkflowWorkItem[];
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly ended: number;
  /** The place of the first item of the plan whose dependencies are done; each is given once. */
  next(): number | undefined;
  /** Notes the end of an item, once. Gives the places of those that are skipped for it. */
  end(place: number, result: WorkflowItemResult<R>): readonly number[];
  /** Tells how an item ended. */
  result(place: number): WorkflowItemResult<R> | undefined;
  /** Tells how each item ended, in the order of the plan; those that were never begun as skipped for nothing of their own. */
  results(): readonly WorkflowItemResult<R>[];
}

/**
 * Keeps the items of a plan in order; over the whole run linear in dependencies, and in items but for a logarithm.
 * @param backend - whose plan it is.
 */
export function createItemTable<R>({ items, graph }: SoundPlan, backend: string): ItemTable<R> {
  const results: (WorkflowItemResult<R> | undefined)[] = items.map(() => undefined);
  const missing = graph.map((dependencies) => dependencies.length);
  const dependents: number[][] = items.map(() => []);
  for (const [place, dependencies] of graph.entries()) for (const each of dependencies) dependents[each]?.push(place);
  const ready = new ReadyItems();
  for (const [place, count] of missing.entries()) if (count === 0) ready.add(place);
  const counts = { done: 0, failed: 0, skipped: 0 };

  const note = (place: number, result: WorkflowItemResult<R>): void => {
    results[place] = result;
    counts[result.status]++;
  };

  const skippedFor = (place: number, because: readonly string[]): WorkflowItemResult<R> => {
    const { id = '', action = '' } = items[place] ?? {};
    return { id, action, status: 'skipped', because, backend };
  };

  /** The dependencies of an item that were not done; all have ended. */
  const undone = (place: number): readonly string[] =>
    (graph[place] ?? []).flatMap((each) => {
      const result = results[each];
      return result === undefined || result.status === 'done' ? [] : [result.id];
    });

  return {
    items,
    get done() {
      return counts.done;
    },
    get failed() {
      return counts.failed;
    },
    get skipped() {
      return counts.skipped;
    },
    get ended() {
      return counts.done + counts.failed + counts.skipped;
    },
    next() {
      let place = ready.take();
      // It may have been handed over before its turn came.
      while (place !== undefined && results[place] !== undefined) place = ready.take();
      return place;
    },
    end(place, result) {
      if (results[place] !== undefined) return [];
      note(place, result);
      const skipped: number[] = [];
      // A list in place of recursion: a chain may be as long as the plan.
      const freed = [place];
      for (let at = 0; at < freed.length; at++) {
        for (const each of dependents[freed[at] ?? 0] ?? []) {
          const left = (missing[each] ?? 0) - 1;
          missing[each] = left;
          if (left > 0 || results[each] !== undefined) continue;
          const because = undone(each);
          if (because.length === 0) {
            ready.add(each);
            continue;
          }
          note(each, skippedFor(each, because));
          skipped.push(each);
          freed.push(each);
        }
      }
      return skipped;
    },
    result: (place) => results[place],
    results: () => results.map((result, place) => result ?? skippedFor(place, [])),
  };
}

/** Places of a plan that may be taken, the first of the plan first: a binary heap of numbers. */
class ReadyItems {
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
