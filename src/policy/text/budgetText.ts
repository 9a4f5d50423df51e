import type { Limit, Metric, Standing } from '../budget.ts';
import { commandAbout, optionWords } from './shownCommand.ts';

const words = { requests: 'requests', tokens: 'tokens', money: 'in money', toolCalls: 'tool calls', rounds: 'rounds' };

/** An amount as options take it: `2M`, `12.5k`, `20`. */
export function amountText(amount: number): string {
  const [power, unit] = amount >= 1e6 ? [1e6, 'M'] : amount >= 10_000 ? [1e3, 'k'] : [1, ''];
  const parts = power === 1 ? 1e6 : 100;
  return `${Math.round((amount / power) * parts) / parts}${unit}`;
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
export const budgetWaitText = (spent: Standing): string =>
  `waits for its budget of ${limitWords(spent)}; ${goesOn(spent)}`;

/** What happened, for people, with what has it go on. */
export function budgetSpentText(spent: Standing): string {
  const { scope, used } = spent;
  const said = `${nameOfScope(scope)} has spent ${amountText(used)}`;
  if (scope.startsWith('session:')) return `${said} and ${budgetWaitText(spent)}`;
  if (isOfRun(scope)) return `${said}; its budget is ${limitWords(spent)}; ${goesOn(spent)}`;
  return `${said} of its budget of ${limitWords(spent)} and is refused; ${goesOn(spent)}`;
}

/** Why a call is refused, for whoever called: a model is not told the command that lifts its budget. A run is of people. */
export function budgetRefusalText(spent: Standing): string {
  if (isOfRun(spent.scope)) return budgetSpentText(spent);
  const until = spent.againAt === undefined ? '' : `, until ${clockText(spent)}`;
  return `${nameOfScope(spent.scope)} is refused${until}: its budget of ${limitWords(spent)} is spent`;
}

function goesOn(spent: Standing): string {
  const { scope, metric, per, most } = spent;
  const to = amountText(Math.ceil(most * 1.5));
  const way = spent.againAt === undefined ? 'by' : `at ${clockText(spent)}, or`;
  // A run has ended, or has not begun: the next one is given more.
  const option = `--spend ${metric}=${to}${per === 'session' ? '' : `/${per}`}`;
  if (isOfRun(scope)) return `more ${way}: ${option}, or budget.${per}.${metric} of its policy`;
  return `goes on ${way}: ${commandAbout('budget', nameOfScope(scope), optionWords(budgetOption(metric), to))}`;
}

/** The limit that such a text has it go on by, as orders take it: `tokens=3M`. */
export function higherLimit(text = ''): string | undefined {
  const [, option = '', amount = ''] = /unwedge budget\b.* --([a-z-]+) ([\d.]+[kMG]?)/.exec(text) ?? [];
  return amount === '' ? undefined : `${option.replace('-c', 'C')}=${amount}`;
}

const clockText = ({ againAt, zone }: Standing): string =>
  `${new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' }).format(againAt)} ${zone}`;
