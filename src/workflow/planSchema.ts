import { z } from 'zod';
import { effects } from '../policy/effects.ts';

const text = z.string('a non-empty string').min(1, 'a non-empty string');
const names = z.array(z.string('a string'), 'an array of strings').optional();

const attempts = z.int('an integer of at least 1').min(1, 'an integer of at least 1').optional();

/** Loose: what else is said of an item is its backend's. */
const item = z.looseObject(
  {
    id: text,
    action: text,
    dependencies: names,
    tools: names,
    tools_needed: names,
    servers: names,
    mcp_servers: names,
    maxAttempts: attempts,
    max_attempts: attempts,
    effect: z.enum(effects, `one of ${effects.join(', ')}`).optional(),
    input: z.unknown().optional(),
  },
  'an object',
);

const todo = {
  items: z.array(item, 'an array of items').min(1, 'an array of at least one item'),
  mode: z.string('a string').optional(),
};

const success = z.literal(true, 'true or false');

/** A plan as far as its form goes. The messages say what is expected. */
export const planSchema = z.looseObject({ success, ...todo }, 'an object');
/** The same with its items in `todo`. */
export const todoSchema = z
  .looseObject({ success, todo: z.looseObject(todo, 'an object') }, 'an object')
  .transform((plan) => plan.todo);
