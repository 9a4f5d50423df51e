import { AttemptError } from '../policy/failure.ts';
import { show } from '../policy/options.ts';
import { graphOf } from './planGraph.ts';
import type { WorkflowWorkItem } from './workflowTypes.ts';

/** A plan that may be done. */
export interface SoundPlan {
  readonly items: readonly WorkflowWorkItem[];
  readonly mode: string | undefined;
  /** Of each item the places of those it depends on. */
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
  // Loaded by the first plan: who makes none is spared it.
  const { planSchema, todoSchema } = await import('./planSchema.ts');
  const problems: string[] = [];
  const isTodo = valueAt(plan, ['items']) === undefined && valueAt(plan, ['todo']) !== undefined;
  const parsed = isTodo ? todoSchema.safeParse(plan) : planSchema.safeParse(plan);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      problems.push(`${pathText(path)}: expected ${message}, got ${show(valueAt(plan, path))}`);
    }
    throw badPlan(backend, problems);
  }
  const { items, mode } = parsed.data;
  const graph = graphOf(
    items.map(({ id, dependencies = [] }) => ({ id, dependencies })),
    (where, what) => problems.push(`${isTodo ? 'todo.' : ''}${where}: ${what}`),
  );
  if (problems.length > 0) throw badPlan(backend, problems);
  return { items: items.map(inOneSpelling), graph, mode };
}

/** What is known of an item goes by one name for who reads it; everything it said is kept. */
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

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  }
  return text === '' ? 'the plan' : text;
}

function valueAt(plan: unknown, path: readonly PropertyKey[]): unknown {
  let value = plan;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
