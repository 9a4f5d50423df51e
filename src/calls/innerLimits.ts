/** A limit of a supervised call that an operation waits for. */
export interface InnerLimit {
  /** Owner of it, for people. */
  readonly of: string;
  readonly rule: 'idle_timeout' | 'attempt_timeout' | 'overall_timeout';
  /** In monotonic ms; a limit without end is left out. */
  readonly due: number;
}

const known = new WeakMap<object, () => readonly InnerLimit[]>();

/** Has what is said of a call name the limits that end what it waits for. @param call - of the context of its attempt. */
export function tellInnerLimits(call: object, limits: () => readonly InnerLimit[]): void {
  known.set(call, limits);
}

export function innerLimitsOf(call: object): readonly InnerLimit[] {
  return known.get(call)?.() ?? [];
}
