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
export const limitWords = ({ metric, most, per, scope = '' }: Limit & Partial<Standing>): string =>
  `${amountText(most)} ${words[metric]} of the ${per === 'session' && isOfRun(scope) ? 'run' : per}`;

const isOfRun = (scope: string): boolean => scope.startsWith('run:');

/** The name in a scope: `session:chat` is `chat`. */
export const nameOfScope = (scope: string): string => scope.slice(scope.indexOf(':') + 1);

/** Why a call waits: `waits for its budget of 2M tokens of the day; goes on at 00:00 UTC, or: unwedge budget chat --tokens 3M`. */
export function budgetWaitText(spent: Standing): string {
  const { scope, metric, per, most, againAt, zone } = spent;
  const to = amountText(Math.ceil(most * 1.5));
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' });
  const at = againAt === undefined ? undefined : `at ${format.format(againAt)} ${zone}, or`;
  // A run has ended, or has not begun: the next one is given more.
  if (isOfRun(scope)) {
    const option = `--spend ${metric}=${to}${per === 'session' ? '' : `/${per}`}`;
    return `its budget is ${limitWords(spent)}; more ${at ?? 'by'}: ${option}, or budget.${per}.${metric} of its policy`;
  }
  const order = commandAbout('budget', nameOfScope(scope), optionWords(budgetOption(metric), to));
  return `waits for its budget of ${limitWords(spent)}; goes on ${at ?? 'by'}: ${order}`;
}

/** Why a call is refused, or a run has ended. */
export const budgetSpentText = (spent: Standing): string =>
  `${nameOfScope(spent.scope)} has spent ${amountText(spent.used)}${isOfRun(spent.scope) ? ';' : ' and'} ${budgetWaitText(spent)}`;
