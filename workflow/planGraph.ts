import { nearest } from '../src/policy/nearest.ts';
import { show } from '../src/policy/options.ts';

/** Parts of an item that its place in the plan depends on. */
interface PlannedNode {
  readonly id: string;
  readonly dependencies: readonly string[];
}

/** Takes what is wrong, where and how. */
type Complain = (where: string, what: string) => void;

/** Ids among which a misspelt one is looked for, and characters of one: more would take long. */
const mostKnown = 500;
const longestId = 100;
/** Ids of a cycle that are named, and cycles that are told: one item may be in as many as there are others. */
const mostNamed = 8;
const mostCycles = 20;

/**
 * The dependencies of each item as places in the list. Tells ids that come twice, dependencies that are no item, and the
 * first cycles; linear in items and dependencies.
 */
export function graphOf(items: readonly PlannedNode[], complain: Complain): readonly (readonly number[])[] {
  const places = new Map<string, number>();
  for (const [index, { id }] of items.entries()) {
    const first = places.get(id);
    if (first === undefined) places.set(id, index);
    else complain(`items[${index}].id`, `expected an id of its own, got ${show(id)}, which is that of items[${first}]`);
  }
  const graph = items.map(({ dependencies }, index) => {
    const found = new Set<number>();
    for (const [at, id] of dependencies.entries()) {
      const place = places.get(id);
      if (place !== undefined) found.add(place);
      else
        complain(
          `items[${index}].dependencies[${at}]`,
          `expected the id of an item, got ${show(id)}${guess(id, places)}`,
        );
    }
    return [...found];
  });
  let cycles = 0;
  for (const cycle of cyclesIn(graph)) {
    complain(`items[${cycle[0] ?? 0}].dependencies`, circleText(cycle, items));
    if (++cycles === mostCycles) break;
  }
  return graph;
}

function guess(id: string, places: ReadonlyMap<string, number>): string {
  if (id.length > longestId || places.size > mostKnown) return '';
  const close = nearest(
    id,
    [...places.keys()].filter(({ length }) => length <= longestId),
  );
  return close === undefined ? '' : `; did you mean ${show(close)}?`;
}

/** Walks the items in depth, without a stack of calls: a chain may be as long as the plan. */
function* cyclesIn(graph: readonly (readonly number[])[]): Generator<readonly number[]> {
  const done = new Uint8Array(graph.length);
  const onPath = new Int32Array(graph.length).fill(-1);
  for (let start = 0; start < graph.length; start++) {
    const path: { readonly node: number; next: number }[] = [];
    const enter = (node: number): void => {
      onPath[node] = path.length;
      path.push({ node, next: 0 });
    };
    if (done[start] === 0) enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = graph[top.node]?.[top.next++];
      if (next === undefined) {
        done[top.node] = 1;
        onPath[top.node] = -1;
        path.pop();
      } else if ((onPath[next] ?? -1) >= 0) yield path.slice(onPath[next]).map(({ node }) => node);
      else if (done[next] === 0) enter(next);
    }
  }
}

function circleText(cycle: readonly number[], items: readonly PlannedNode[]): string {
  const named = cycle.slice(0, mostNamed).map((place) => show(items[place]?.id));
  const more = cycle.length > mostNamed ? [`${cycle.length - mostNamed} more`] : [];
  return `expected no item to depend on itself, got ${[...named, ...more, named[0]].join(' → ')}`;
}
