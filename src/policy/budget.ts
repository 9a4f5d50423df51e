import { isZone, momentOf, wallTime } from './failures/zones.ts';
import { byName, type Given, number, section, test, text, type Values } from './options/optionKeys.ts';
import { globFits } from './text/glob.ts';

export const metrics = ['requests', 'tokens', 'money', 'toolCalls', 'rounds'] as const;
/** Amount that a budget counts. */
export type Metric = (typeof metrics)[number];
export const pers = ['turn', 'session', 'day'] as const;
/** Stretch that a limit of a budget is for. */
export type Per = (typeof pers)[number];

const powers: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, G: 1e9 };

/** Reads an amount: `20`, `200k`, `1.5M`; undefined where it is none above 0 and below 60G. */
export function readAmount(given: string | number): number | undefined {
  const [, figure = '', power = ''] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(String(given)) ?? [];
  const amount = Number(figure) * (powers[power] ?? 1);
  return amount > 0 && amount < 60e9 ? amount : undefined;
}

/** Reads a limit: `tokens=2M/day`, or `rounds=30`, which is of the whole session or run; undefined where it is none. */
export function limitIn(given: string): (Omit<Limit, 'per'> & { readonly per?: Per | undefined }) | undefined {
  const [, name, amount = '', per] = /^(\w+)=([^/]+)(?:\/(turn|session|day))?$/.exec(given) ?? [];
  const metric = metrics.find((each) => each === name);
  const most = readAmount(amount);
  return metric === undefined || most === undefined ? undefined : { metric, most, per: per as Per | undefined };
}

/** Limits such as `tokens=2M/day,rounds=30`, as options to be checked; those without a stretch are of the whole run. */
export function budgetIn(given: string): BudgetInput {
  const limits = new Map<string, Record<string, string>>();
  for (const each of given.split(',')) {
    const [metric = '', amount = '', per = 'session'] = each.split(/[=/]/);
    limits.set(per, { ...limits.get(per), [metric]: amount });
  }
  return Object.fromEntries(limits);
}

/** Limits of a stretch, by what is counted: `requests` are attempts of calls, calls that are made at once are one of `rounds`. */
export type BudgetLimits = { readonly [M in Metric]?: number | string | undefined };

const isAmount = (given: unknown): boolean => readAmount(given as string) !== undefined;
const anAmount = 'an amount above 0, such as 200000, 200k or 2M';
const limits = (of: string) =>
  byName(test<number | string>(anAmount, isAmount, { help: `NAME: ${metrics.join(', ')}.` }), {
    name: new RegExp(`^(?:${metrics.join('|')})$`),
    known: metrics,
    expected: `an object of ${metrics.join(', ')}`,
    given: {} as BudgetLimits,
    help: `What may be spent in ${of}: ${metrics.join(', ')}.`,
  });

const price = number({ help: 'Price of a million of these tokens; else 0.' });
const priceKeys = { input: price, output: price, cacheRead: price, cacheWrite: price };
const prices = section(priceKeys, { id: 'prices' });

type PriceInput = Given<typeof priceKeys>;

/** The keys of a budget; that of an integration has days alone. */
export const budgetKeys = {
  /** Limits of a turn of a session. @defaultValue none */
  turn: limits('a turn of a session'),
  /** Limits of a whole session or run. @defaultValue none */
  session: limits('a whole session or run'),
  /** Limits of a day. @defaultValue none */
  day: limits('a day'),
  /** Time zone whose midnight begins a day. @defaultValue 'UTC' */
  zone: text({ default: 'UTC', form: isZone, expected: 'a time zone', help: 'Time zone whose midnight begins a day.' }),
  /** Prices of a million tokens by model, `*` for any characters: the first that fits counts. @defaultValue nothing costs money */
  prices: byName(prices, {
    default: {},
    given: {} as Readonly<Record<string, PriceInput>>,
    help: 'Prices by model, `*` for any characters: the first that fits counts.',
  }),
};

/** A budget, as it may be given. */
export interface BudgetInput extends Given<typeof budgetKeys> {}
/** The option of a budget. */
export const budgetKey = (help: string) => section(budgetKeys, { given: {} as BudgetInput, help });
/** A budget that was read. */
export type Budget = Values<typeof budgetKeys>;

const limitsOf = (budget: Budget, isMeant: (per: Per, metric: Metric) => boolean) =>
  pers.flatMap((per) =>
    metrics.flatMap((metric) => {
      const given = budget[per]?.[metric];
      return given !== undefined && isMeant(per, metric) ? [{ per, metric, given }] : [];
    }),
  );

/** The option of the budget of a session, which makes no requests of its own. */
export const sessionBudgetKey = (help: string) =>
  section(budgetKeys, { given: {} as BudgetInput, id: 'sessionBudget', help }, (budget, tell) => {
    for (const { per, given } of limitsOf(budget, (_per, metric) => metric === 'requests'))
      tell([per, 'requests'], {
        says: `to be left out, got ${given}: a session counts tokens, money, toolCalls, rounds`,
      });
  });

/** @throws RangeError for a limit of an integration that makes requests alone: nobody would count what it holds. */
export function refuseUncounted(name: string, budget: Budget): void {
  const [first] = limitsOf(budget, (per, metric) => per !== 'day' || metric === 'toolCalls' || metric === 'rounds');
  if (first === undefined) return;
  const { per, metric, given } = first;
  const possible = 'it counts requests, tokens, money, of a day';
  throw new RangeError(`Expected \`budget.${per}.${metric}\` of ${name} to be left out, got ${given}: ${possible}`);
}

/** Amounts that were spent. */
export type Spending = Readonly<Partial<Record<Metric, number>>>;

/** A limit of a budget. */
export type Limit = { readonly per: Per; readonly metric: Metric; readonly most: number };

/** A limit, and how far it is used. */
export interface Standing extends Limit {
  readonly scope: string;
  readonly used: number;
  readonly zone: string;
  /** Time when a new window begins by itself, in wall ms. @defaultValue none does */
  readonly againAt?: number | undefined;
}

/** Usage as the answer of a model tells it: `inputTokens` are all that were read, those of a cache included. */
export type ModelUsage = { readonly model?: string | undefined } & {
  readonly [N in 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens']?: number | undefined;
};

/** What a usage takes of a budget. A model that no price fits costs nothing. */
export function spendingOf(usage: ModelUsage, priceList: Budget['prices']): Spending {
  const { model = '', inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = usage;
  const fits = (pattern: string): boolean => globFits(pattern, model);
  const {
    input = 0,
    output = 0,
    cacheRead = 0,
    cacheWrite = 0,
  } = Object.entries(priceList).find(([pattern]) => fits(pattern))?.[1] ?? {};
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens) * input + outputTokens * output;
  const money = (plain + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite) / 1e6;
  return { tokens: inputTokens + outputTokens, money };
}

/** The end of the day that a time is in, in wall ms. */
export function endOfDay(now: number, zone: string): number {
  const { year, month, day } = wallTime(now, zone);
  return momentOf({ year, month, day: day + 1, hour: 0, minute: 0, second: 0 }, zone);
}
