import { effects } from '../src/policy/face.ts';
import { AttemptError } from '../src/policy/failures/face.ts';
import { nearest, show } from '../src/policy/text/face.ts';
import {
  type Key,
  type OptionProblem,
  anything,
  choice,
  collectProblems,
  integer,
  list,
  pathText,
  section,
  test,
  text,
} from '../src/policy/options/face.ts';
import type { WorkflowWorkItem } from './workflowTypes.ts';

/** A plan that may be done. */
export interface SoundPlan {
  readonly items: readonly WorkflowWorkItem[];
  readonly mode: string | undefined;
  /** Places of those that each item depends on. */
  readonly graph: readonly (readonly number[])[];
}

/** Problems that are told one by one. */
const mostTold = 20;

/**
 * Checks what a backend gave as its plan, which may be anything.
 * @param backend - whose plan it is, for errors.
 * @throws {@link AttemptError} that says of everything that is wrong where it is and what was expected; of kind `protocol`, but
 * `unknown` where the backend itself says that it has no plan.
 */
export async function checkPlan(backend: string, plan: unknown): Promise<SoundPlan> {
  refuse(backend, plan);
  const own = valueAt(plan, 'items');
  const todo = valueAt(plan, 'todo');
  const isTodo = own === undefined && todo !== undefined;
  const { value, problems: found } = collectProblems(isTodo ? todoKey : planKey, plan);
  const problems = found.map(problemText);
  if (own !== undefined && valueAt(todo, 'items') !== undefined) {
    problems.push('todo.items: expected to be left out beside `items`');
  }
  if (problems.length > 0) throw badPlan(backend, problems);
  const { items, mode } = (isTodo ? (value as { readonly todo: PlanPart }).todo : value) as PlanPart;
  const graph = graphOf(
    items.map(({ id, dependencies = [] }) => ({ id, dependencies })),
    (where, what) => problems.push(`${isTodo ? 'todo.' : ''}${where}: ${what}`),
  );
  if (problems.length > 0) throw badPlan(backend, problems);
  return { items: items.map(inOneSpelling), graph, mode };
}

/** Gives what is known of an item one name for its readers; everything it said is kept. */
function inOneSpelling(item: WorkflowWorkItem): WorkflowWorkItem {
  const { tools = item.tools_needed, servers = item.mcp_servers, maxAttempts = item.max_attempts } = item;
  return {
    ...item,
    ...(tools !== undefined && { tools }),
    ...(servers !== undefined && { servers }),
    ...(maxAttempts !== undefined && { maxAttempts }),
  };
}

/** A backend that says it has no plan says why better than a check of what is missing in it. */
function refuse(backend: string, plan: unknown): void {
  if (typeof plan !== 'object' || plan === null) return;
  const { success, error } = plan as { readonly success?: unknown; readonly error?: unknown };
  if (success !== false) return;
  const why = typeof error === 'string' && error !== '' ? `: ${error}` : '';
  throw new AttemptError({ kind: 'unknown', message: `${backend} could not make a plan${why}`, outcome: 'failed' });
}

function badPlan(backend: string, problems: readonly string[]): AttemptError {
  const more = problems.length > mostTold ? [`and ${problems.length - mostTold} more`] : [];
  const told = [...problems.slice(0, mostTold), ...more].join('; ');
  return new AttemptError({
    kind: 'protocol',
    message: `The plan of ${backend} cannot be used: ${told}`,
    outcome: 'failed',
  });
}

function problemText(problem: OptionProblem): string {
  const place = pathText(problem.path) || 'the plan';
  return `${place}: expected ${problem.says ?? `${problem.expected}, got ${show(problem.value)}`}`;
}

function valueAt(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

const someText = text({ required: true });
const texts = list(text({ empty: true }), { expected: 'an array of strings' });
const attempts = integer();

/** Open: what else is said of an item is its backend's. */
const item = {
  ...section({
    id: someText,
    action: someText,
    dependencies: texts,
    tools: texts,
    tools_needed: texts,
    servers: texts,
    mcp_servers: texts,
    maxAttempts: attempts,
    max_attempts: attempts,
    effect: choice(effects),
    input: anything,
  }),
  open: true,
} as Key<WorkflowWorkItem>;

const part = {
  items: list(item, { required: true, least: 1, expected: 'an array of at least one item' }),
  mode: text({ empty: true }),
};

const success = test<true, { required: true }>('true or false', (value) => value === true, { required: true });

/** Content of a plan, wherever it says it. */
interface PlanPart {
  readonly items: readonly WorkflowWorkItem[];
  readonly mode?: string | undefined;
}

/** A plan as far as its form goes. */
const planKey = { ...section({ success, ...part }), open: true } as Key<PlanPart>;

/** The same with its items in `todo`. */
const todoKey = {
  ...section({ success, todo: { ...section(part), open: true, required: true } }),
  open: true,
} as Key<{ readonly todo: PlanPart }>;

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
function graphOf(items: readonly PlannedNode[], complain: Complain): readonly (readonly number[])[] {
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
