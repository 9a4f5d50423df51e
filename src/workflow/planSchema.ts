import { z } from 'zod';
import { effects } from '../policy/effects.ts';

const text = z.string('a non-empty string').min(1, 'a non-empty string');
const names = z.array(z.string('a string'), 'an array of strings').optional();

const item = z.looseObject(
  {
    id: text,
    action: text,
    dependencies: names,
    tools: names,
    servers: names,
    effect: z.enum(effects, `one of ${effects.join(', ')}`).optional(),
  },
  'an object',
);

/** A plan as far as its form goes; what else an item says of itself is its backend's. The messages say what is expected. */
export const planSchema = z.looseObject(
  {
    success: z.literal(true, 'true or false'),
    items: z.array(item, 'an array of items').min(1, 'an array of at least one item'),
  },
  'an object',
);
