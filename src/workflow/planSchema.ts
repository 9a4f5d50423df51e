import { effects } from '../policy/effects.ts';
import { anything, choice, integer, type Key, list, section, test, text } from '../policy/optionKeys.ts';
import type { WorkflowWorkItem } from './workflowTypes.ts';

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
export interface PlanPart {
  readonly items: readonly WorkflowWorkItem[];
  readonly mode?: string | undefined;
}

/** A plan as far as its form goes. */
export const planKey = { ...section({ success, ...part }), open: true } as Key<PlanPart>;

/** The same with its items in `todo`. */
export const todoKey = {
  ...section({ success, todo: { ...section(part), open: true, required: true } }),
  open: true,
} as Key<{ readonly todo: PlanPart }>;
