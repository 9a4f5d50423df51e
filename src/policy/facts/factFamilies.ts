/** The facts each backend of a workflow has under a type of its own; `*` stands for the backend's name. */
export type FactFamily = `workflow.*.${(typeof ofBackends)[number]}`;

const ofBackends = ['started', 'planned', 'completed', 'failed', 'item_error', 'circuit_breaker_open'] as const;

const prefix = 'workflow.';
const families = new Map<string, FactFamily>(ofBackends.map((name) => [name, `${prefix}*.${name}`]));

/** The pattern of a type that backends have each their own of: a listener of the pattern hears all of them. Undefined of any other. */
export function familyOf(type: string): FactFamily | undefined {
  // Most facts are told of calls; they pay for one comparison.
  if (!type.startsWith(prefix)) return undefined;
  const end = type.lastIndexOf('.');
  return end > prefix.length ? families.get(type.slice(end + 1)) : undefined;
}
