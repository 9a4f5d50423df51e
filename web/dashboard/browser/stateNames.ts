/** The states that the value of a machine stands for, outer ones first: `{"a":"b"}` is `a` and `a.b`. */
export function statesOf(value: unknown, above = ''): readonly string[] {
  if (typeof value === 'string') return [`${above}${value}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`${above}${key}`, ...statesOf(inner, `${above}${key}.`)]);
}

/** The states that have none of the others in them. */
export function leavesOf(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => !ids.some((other) => other.startsWith(`${id}.`)));
}
