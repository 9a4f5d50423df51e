import { metrics } from '../src/policy/face.ts';
import { budgetOption } from '../src/policy/text/face.ts';
import { defineCommand, text } from './command.ts';
import { giveAndSay, reasonOption } from './orders.ts';

const amount = (what: string) => text('AMOUNT', `raise the limit on ${what}, such as 3M, or 3M/day`);

export const command = defineCommand({
  usage: 'budget NAME [--tokens AMOUNT | --rounds AMOUNT | ...] [--reason TEXT] [--json] [--db FILE]',
  details: [
    'Says what was spent of the budget of NAME: a session, an integration, a proxy or a run. With an amount it raises the limit that is spent, or that',
    'of the given turn, session or day, until that ends: what waits goes on within a second. Exits 1 where there is no such limit.',
  ].join('\n'),
  options: {
    tokens: amount('tokens'),
    money: amount('money'),
    requests: amount('requests'),
    'tool-calls': amount('tool calls'),
    rounds: amount('rounds of tool calls'),
    ...reasonOption,
  },
  operands: ['NAME'],
  choices: 'integrations or sessions',
  run({ operands: [name = ''], reason, ...args }, io) {
    const [target] = metrics.flatMap((metric) => args[budgetOption(metric)]?.replace(/^/, `${metric}=`) ?? []);
    return giveAndSay({ order: 'budget', name, target, reason }, args, io);
  },
});
