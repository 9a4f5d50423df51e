import { z } from 'zod';
import { effects } from '../policy/effects.ts';

const text = z.string('a non-empty string').min(1, 'a non-empty string');
const names = z.array(z.string('a string'), 'an array of strings').optional();

const item = z.strictObject(
  {
    id: text,
    action: text,
    dependencies: names,
    tools: names,
    servers: names,
    effect: z.enum(effects, `one of ${effects.join(', ')}`).optional(),
    input: z.unknown().optional(),
  },
  'an object',
);

/** What an item may say of itself. A key besides these is refused: `depends` instead of `dependencies` would have the work done out of order. */
export const itemKeys: readonly string[] = Object.keys(item.shape);

/** A plan as far as its form goes. The messages say what is expected. */
export const planSchema = z.looseObject(
  {
    success: z.literal(true, 'true or false'),
    items: z.array(item, 'an array of items').min(1, 'an array of at least one item'),
  },
  'an object',
);
