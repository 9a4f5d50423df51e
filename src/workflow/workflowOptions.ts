import {
  checkDuration,
  checkFunction,
  checkInteger,
  checkKeys,
  checkName,
  checkObject,
  show,
} from '../policy/options.ts';
import type { WorkflowBackend, WorkflowOptions, WorkflowRunOptions } from './workflowTypes.ts';

/** The options of a workflow, checked and complete but for the policies. */
export interface CheckedWorkflow<I, R, S> {
  readonly backends: readonly WorkflowBackend<I, R, S>[];
  readonly concurrency: number;
  readonly overallMs: number;
}

const usualConcurrency = 1;
const usualOverallMs = 30 * 60_000;

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkWorkflow<I, R, S>(name: string, options: WorkflowOptions<I, R, S>): CheckedWorkflow<I, R, S> {
  checkKeys(name, options, ['backends', 'concurrency', 'overallMs']);
  const { backends, concurrency = usualConcurrency, overallMs = usualOverallMs } = options;
  const given: unknown = backends;
  if (!Array.isArray(given)) {
    throw new TypeError(`Expected \`${name}.backends\` to be an array of backends, got ${show(given)}`);
  }
  if (backends.length === 0)
    throw new RangeError(`Expected \`${name}.backends\` to have at least one backend, got none`);
  const names = new Set<string>();
  for (const [index, backend] of backends.entries()) checkBackend(`${name}.backends[${index}]`, backend, names);
  return {
    backends: [...backends],
    concurrency: checkInteger(`${name}.concurrency`, concurrency),
    overallMs: checkDuration(`${name}.overallMs`, overallMs),
  };
}

function checkBackend<I, R, S>(option: string, backend: WorkflowBackend<I, R, S>, names: Set<string>): void {
  checkKeys(option, backend, ['name', 'plan', 'item', 'summary', 'policy', 'itemPolicy', 'isCritical']);
  const { name, plan, item, summary, policy, itemPolicy, isCritical } = backend;
  checkName(`${option}.name`, name);
  if (!/^[\w-]+$/.test(name)) {
    throw new RangeError(`Expected \`${option}.name\` to be letters, digits, - and _, got ${show(name)}`);
  }
  if (names.has(name)) throw new RangeError(`Expected \`${option}.name\` to be unique, got ${show(name)} again`);
  names.add(name);
  checkFunction(`${option}.plan`, plan);
  checkFunction(`${option}.item`, item);
  if (summary !== undefined) checkFunction(`${option}.summary`, summary);
  if (isCritical !== undefined) checkFunction(`${option}.isCritical`, isCritical);
  if (policy !== undefined) checkObject(`${option}.policy`, policy);
  if (itemPolicy !== undefined) checkObject(`${option}.itemPolicy`, itemPolicy);
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkRunOptions(options: WorkflowRunOptions): WorkflowRunOptions {
  checkKeys('options', options, ['signal', 'session']);
  const { signal, session } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`Expected \`options.signal\` to be an AbortSignal, got ${show(signal)}`);
  }
  if (session !== undefined) checkName('options.session', session);
  return { signal, session };
}
