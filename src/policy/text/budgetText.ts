import type { Limit, Metric, Standing } from '../budget.ts';
import { commandAbout, optionWords } from './shownCommand.ts';

const words = { requests: 'requests', tokens: 'tokens', money: 'in money', toolCalls: 'tool calls', rounds: 'rounds' };

/** An amount as options take it: `2M`, `12.5k`, `20`. */
export function amountText(amount: number): string {
  const [power, unit] = amount >= 1e6 ? [1e6, 'M'] : amount >= 10_000 ? [1e3, 'k'] : [1, ''];
  return `${Math.round((amount / power) * 100) / 100}${unit}`;
}

/** The option by which a limit is raised: `tool-calls`. */
export const budgetOption = <M extends Metric>(metric: M) =>
  metric.replace('C', '-c') as M extends 'toolCalls' ? 'tool-calls' : M;

/** A limit for people: `2M tokens of the day`. */
export const limitWords = ({ metric, most, per }: Limit): string =>
  `${amountText(most)} ${words[metric]} of the ${per}`;

/** The name in a scope: `session:chat` is `chat`. */
export const nameOfScope = (scope: string): string => scope.slice(scope.indexOf(':') + 1);

/** Why a call waits: `waits for its budget of 2M tokens of the day; goes on at 00:00 UTC, or: unwedge budget chat --tokens 3M`. */
export function budgetWaitText(spent: Standing): string {
  const { scope, metric, most, againAt, zone } = spent;
  const more = optionWords(budgetOption(metric), amountText(Math.ceil(most * 1.5)));
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' });
  const way = againAt === undefined ? 'by' : `at ${format.format(againAt)} ${zone}, or`;
  return `waits for its budget of ${limitWords(spent)}; goes on ${way}: ${commandAbout('budget', nameOfScope(scope), more)}`;
}

/** Why a call is refused, or a run has ended. */
export const budgetSpentText = (spent: Standing): string =>
  `${nameOfScope(spent.scope)} has spent ${amountText(spent.used)} and ${budgetWaitText(spent)}`;
