import { effects } from '../src/policy/effects.ts';
import { AttemptError } from '../src/policy/failure.ts';
import { anything, choice, integer, type Key, list, section, test, text } from '../src/policy/optionKeys.ts';
import { type OptionProblem, pathText } from '../src/policy/optionProblem.ts';
import { collectProblems } from '../src/policy/readOptions.ts';
import { show } from '../src/policy/showValue.ts';
import { graphOf } from './planGraph.ts';
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
