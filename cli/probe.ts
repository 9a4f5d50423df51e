import { defineCommand } from './command.ts';
import { giveAndSay, reasonOption } from './orders.ts';

export const command = defineCommand({
  usage: 'probe NAME [--reason TEXT] [--json] [--db FILE]',
  details: [
    'NAME is an integration of a running gateway or proxy. One with a harmless request of its own (an MCP server) is asked at once; of another',
    'the next call is let through. Where its circuit is closed and those of tools are open, the next call of each such tool is. One probe at a time, of all processes on the database. Exits 1 where there is nothing to probe.',
  ].join('\n'),
  options: reasonOption,
  operands: ['NAME'],
  choices: 'integrations',
  run: ({ operands: [name = ''], ...args }, io) => giveAndSay({ order: 'probe', name, reason: args.reason }, args, io),
});
