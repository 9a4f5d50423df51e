import {
  type KeysOf,
  type Tell,
  callback,
  duration,
  integer,
  list,
  readOptions,
  section,
  signal,
  text,
} from '../src/policy/options/face.ts';
import { policyKey } from '../src/policy/face.ts';
import type { CheckedReconcile } from './itemRule.ts';
import type { WorkflowBackend, WorkflowOptions, WorkflowReconcile, WorkflowRunOptions } from './workflowTypes.ts';

/** The options of a workflow, checked and complete but for the policies. */
export interface CheckedWorkflow<I, R, S> {
  readonly backends: readonly WorkflowBackend<I, R, S>[];
  readonly concurrency: number;
  readonly overallMs: number;
  readonly reconcile: CheckedReconcile | undefined;
}

type AnyBackend = WorkflowBackend<never, unknown, unknown>;

const backendKeys = {
  name: text({ required: true, form: (name) => /^[\w-]+$/.test(name), expected: 'letters, digits, - and _' }),
  plan: callback<AnyBackend['plan'], { required: true }>({ required: true }),
  item: callback<AnyBackend['item'], { required: true }>({ required: true }),
  summary: callback<AnyBackend['summary']>(),
  policy: policyKey,
  itemPolicy: policyKey,
  isCritical: callback<AnyBackend['isCritical']>(),
} satisfies KeysOf<AnyBackend>;

const reconcileKeys = {
  probe: callback<CheckedReconcile['probe'], { required: true }>({ required: true }),
  notBefore: duration({ zero: true }),
  timeoutMs: duration({ default: 5000 }),
  attempts: integer({ default: 3 }),
} satisfies KeysOf<WorkflowReconcile>;

const workflowKeys = {
  backends: list(section(backendKeys), { required: true, least: 1, expected: 'an array of at least one backend' }),
  concurrency: integer({ default: 1 }),
  overallMs: duration({ default: 30 * 60_000 }),
  reconcile: section(reconcileKeys),
} satisfies KeysOf<WorkflowOptions<never, unknown, unknown>>;

const runKeys = { signal, session: text() } satisfies KeysOf<WorkflowRunOptions>;

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkWorkflow<I, R, S>(name: string, options: WorkflowOptions<I, R, S>): CheckedWorkflow<I, R, S> {
  const { concurrency, overallMs, reconcile } = readOptions(name, options, workflowKeys, uniqueNames);
  return { backends: [...options.backends], concurrency, overallMs, reconcile };
}

function uniqueNames({ backends }: { readonly backends: readonly { readonly name: string }[] }, tell: Tell): void {
  const names = backends.map(({ name }) => name);
  const again = names.findIndex((name, index) => names.indexOf(name) < index);
  if (again >= 0) tell(['backends', again, 'name'], { says: `to be unique, got "${names[again]}" again` });
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkRunOptions(options: WorkflowRunOptions): WorkflowRunOptions {
  return readOptions('options', options, runKeys);
}
