import { limitIn, type Metric, metrics } from '../src/policy/face.ts';
import { budgetOption } from '../src/policy/text/face.ts';
import { defineCommand, text } from './command.ts';
import { UsageError } from './errors.ts';
import { giveAndSay, reasonOption } from './orders.ts';
import { quoted } from './sanitize.ts';

const amount = (what: string) => text('AMOUNT', `raise the limit on ${what}, such as 3M, or 3M/day`);

export const command = defineCommand({
  usage: 'budget NAME [--tokens AMOUNT] [OPTION...]',
  details: [
    'Says what was spent of the budget of NAME: a session, an integration, a proxy or a run. With an amount it raises the limit that is spent, or that',
    'of the given turn, session or day, until that ends: what waits goes on within a second. Exits 1 where there is no such limit, or the amount is not above it.',
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
    const given = metrics.filter((metric) => args[budgetOption(metric)] !== undefined);
    const [metric, another] = given;
    if (another !== undefined)
      throw new UsageError(
        `One limit is raised at a time: ${given.map((each) => `--${budgetOption(each)}`).join(', ')}`,
      );
    const amount = metric && args[budgetOption(metric)];
    const target = metric && `${metric}=${amount}`;
    if (target !== undefined && limitIn(target) === undefined) {
      const option = `\`--${budgetOption(metric as Metric)}\``;
      throw new UsageError(
        `Expected ${option} to be an amount above 0, such as 3M, or 3M/turn, /session or /day, got ${quoted(amount ?? '')}`,
      );
    }
    return giveAndSay({ order: 'budget', name, target, reason }, args, io);
  },
});
