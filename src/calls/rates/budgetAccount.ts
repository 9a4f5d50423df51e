import * as budgets from '../../policy/budget.ts';
import type { Facts } from '../../policy/facts/facts.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import { type BudgetAnswer, notDone, type OrderNote } from '../../policy/operatorOrder.ts';
import { type RateLevels, takeFrom } from '../../policy/rateLimit.ts';
import {
  amountText,
  budgetRefusalText,
  budgetSpentText,
  limitWords,
  nameOfScope,
} from '../../policy/text/budgetText.ts';
import type { RateKeeper } from './rateBucket.ts';

/** A bucket counts what is used from here down, below nothing: no limit of its own holds anybody back, so that limits may change at any time. */
const whole = 1;
/** Time in ms in which it is full again once its window has ended: at once. */
const perMs = 1e-12;
/** End of a window that does not end by itself, in ms from now. */
const neverMs = 100 * 365 * 24 * 3_600_000;
/** Takes the noise of sums from an amount: money is told to a millionth. */
const tidy = (amount: number): number => Math.round(amount * 1e6) / 1e6;
/** The part of a limit from which on it is warned of. */
const warnsFrom = 0.8;

/** The budgets of a runtime. */
export interface BudgetParts {
  readonly keeper: Pick<RateKeeper, 'now' | 'draw'>;
  readonly facts: Pick<Facts, 'tell'>;
  /** By their scopes. */
  readonly accounts: Map<string, BudgetAccount>;
  /** Word before the name of an integration in its scope. @defaultValue 'integration' */
  readonly are?: 'run' | undefined;
}

/** The budget of a session, an integration, a proxy or a run: what all who share the store and its scope have spent of it. Never throws. */
export class BudgetAccount {
  readonly #budget: budgets.Budget;
  readonly #scope: string;
  readonly #parts: BudgetParts;
  readonly #limits: readonly budgets.Limit[];
  readonly #names: readonly string[];
  /** Levels as they were last seen. */
  #levels: RateLevels = {};
  /** Amounts that the store has yet to be told of: it was not open, or out of order. */
  #owed: Record<string, number> = {};
  #turn = -1;
  /** End of the day, in wall ms. */
  #end = 0;

  /** @param scope - `session:NAME`, `integration:NAME`, `api:NAME` or `run:NAME`. @param stretches - whose limits it is of. @defaultValue all */
  constructor(
    scope: string,
    budget: budgets.Budget,
    parts: BudgetParts,
    stretches: readonly budgets.Per[] = budgets.pers,
  ) {
    this.#scope = scope;
    this.#budget = budget;
    this.#parts = parts;
    this.#limits = stretches.flatMap((per) =>
      budgets.metrics.flatMap((metric) => {
        const most = budgets.readAmount(budget[per]?.[metric] ?? 0);
        return most === undefined ? [] : [{ per, metric, most }];
      }),
    );
    // What is used of each, and what it was raised to.
    this.#names = this.#limits.flatMap(({ per, metric }) => [`${per} ${metric}`, `raised ${per} ${metric}`]);
    parts.accounts.set(scope, this);
  }

  /** The limits of one run or conversation of its scope, which this process alone counts. */
  ofRun(): BudgetAccount {
    const { keeper, facts } = this.#parts;
    const now = (): number => keeper.now();
    const draw: RateKeeper['draw'] = (_key, order, known) => takeFrom(known, order, now());
    const parts = { keeper: { now, draw }, facts, accounts: new Map<string, BudgetAccount>() };
    return new BudgetAccount(`run:${nameOfScope(this.#scope)}`, this.#budget, parts, ['turn', 'session']);
  }

  /** Takes costs, or nothing where a limit is spent: that one is returned. */
  take(costs: budgets.Spending, turn = 0): budgets.Standing | undefined {
    const standings = this.standings(costs, turn);
    // One of which it takes none by its own word is not asked: a second call of a round that has begun is no further one.
    const spent = standings.find(
      ({ metric, used, most }) => costs[metric] !== 0 && used - (costs[metric] ?? 0) >= most,
    );
    if (spent === undefined) this.#tell(standings, costs);
    else this.standings(Object.fromEntries(Object.entries(costs).map(([metric, cost]) => [metric, -cost])), turn);
    return spent && { ...spent, used: tidy(spent.used - (costs[spent.metric] ?? 0)) };
  }

  /** Counts what was spent, whatever is left. */
  spend(costs: budgets.Spending, turn = 0): void {
    this.#tell(this.standings(costs, turn), costs);
  }

  /** Counts what the answer of a model says of itself. */
  used(usage: budgets.ModelUsage): void {
    this.spend(budgets.spendingOf(usage, this.#budget.prices));
  }

  /** Why nothing new is begun; takes costs where it may. */
  refusal(costs: budgets.Spending): FailureFacts | undefined {
    const spent = this.take(costs);
    if (spent === undefined) return undefined;
    const retryAfterMs = spent.againAt && Math.max(1, Math.ceil(spent.againAt - this.#parts.keeper.now()));
    const message = budgetRefusalText(spent);
    return { kind: 'spinning', reason: 'budget', message, outcome: 'not_started', retryAfterMs };
  }

  get isSpent(): boolean {
    return this.standings().some(({ used, most }) => used >= most);
  }

  /** What is spent, for people. */
  get text(): string {
    const said = this.standings().map((one) => `${amountText(one.used)} of ${limitWords(one)}`);
    return `${nameOfScope(this.#scope)} has spent ${said.join(', ')}.`;
  }

  /** Has a limit such as `tokens=3M/day` hold until its window ends; without a stretch of those for its metric the spent ones, else all. */
  raise(limit: string, note: OrderNote): BudgetAnswer {
    const { metric, most: to = 0, per } = budgets.limitIn(limit) ?? {};
    const all = this.standings();
    const known = all.filter((one) => one.metric === metric && (per ?? one.per) === one.per);
    const name = nameOfScope(this.#scope);
    const listed = all.map(limitWords).join(', ');
    if (known.length === 0) return notDone(`${name} has no limit such as ${limit}; its limits: ${listed}.`);
    const spent = known.filter(({ used, most }) => used >= most);
    const meant = spent.length > 0 ? spent : known;
    const raised = meant.filter(({ most }) => to > most);
    const [first] = meant;
    if (raised.length === 0 && first !== undefined)
      return notDone(`${name} has ${limitWords(first)}, which ${amountText(to)} does not raise: more is needed.`);
    const said = raised.map((one) => {
      const count = `raised ${one.per} ${one.metric}`;
      this.#draw({ [count]: to - this.#count(count) });
      const still = one.used >= to ? `, of which ${amountText(one.used)} are spent already` : '';
      const message = `The budget of ${name} of ${limitWords(one)} was raised to ${amountText(to)}${still}`;
      this.#parts.facts.tell({ type: 'budget.raised', ...aboutLimit({ ...one, most: to }), message, ...note });
      return message;
    });
    return { ok: true, text: `${said.join('; ')}.`, limits: this.standings() };
  }

  /** Adds costs. @returns the limits as they stand with them. */
  standings(costs: budgets.Spending = {}, turn = this.#turn): readonly budgets.Standing[] {
    if (turn > this.#turn) {
      this.#turn = turn;
      // Of a count that there is not yet nothing can be owed to the store.
      this.#draw({});
      const ofTurn = this.#names.filter((name) => name.includes('turn'));
      this.#draw(Object.fromEntries(ofTurn.map((name) => [name, -this.#count(name)])));
    }
    const { zone } = this.#budget;
    this.#draw(Object.fromEntries(this.#limits.map(({ per, metric }) => [`${per} ${metric}`, costs[metric]])));
    return this.#limits.map(({ per, metric, most }) => {
      const [used, raised] = [this.#count(`${per} ${metric}`), this.#count(`raised ${per} ${metric}`)];
      const about = { scope: this.#scope, per, metric, most: raised || most, used, zone };
      return per === 'day' ? { ...about, againAt: this.#end } : about;
    });
  }

  #draw(costs: Readonly<Record<string, number | undefined>>): void {
    const { keeper } = this.#parts;
    if (this.#names.length === 0) return;
    const now = keeper.now();
    if (now >= this.#end) {
      this.#end = budgets.endOfDay(now, this.#budget.zone);
      this.#owed = Object.fromEntries(Object.entries(this.#owed).filter(([name]) => !name.includes('day')));
    }
    // A millisecond early, so that all is there again with the first of the day.
    const resetMs = (name: string): number => (name.includes('day') ? this.#end - now - 1 : neverMs);
    const hint = (name: string) => ({ limit: whole, perMs, resetMs: resetMs(name), atOnce: true });
    const order = {
      ...{ capacities: {}, spare: 0, patienceMs: Number.POSITIVE_INFINITY },
      costs: Object.fromEntries(
        this.#names.map((name) => [name, Number.isFinite(costs[name]) ? (costs[name] ?? 0) : 0]),
      ),
      learned: Object.fromEntries(this.#names.map((name) => [name, hint(name)])),
    };
    const { levels, isOwn = false } = keeper.draw(`budget ${this.#scope}`, order, this.#levels);
    this.#levels = levels;
    const owed = this.#owed;
    if (isOwn) for (const name of this.#names) owed[name] = (owed[name] ?? 0) + (order.costs[name] ?? 0);
    else if (Object.values(owed).some((cost) => cost !== 0)) {
      this.#owed = {};
      this.#draw(owed);
    }
  }

  #count(name: string): number {
    return tidy(whole - (this.#levels[name]?.told?.level ?? whole));
  }

  /** Tells what these costs crossed: of all who add to a limit one alone sees that. */
  #tell(standings: readonly budgets.Standing[], costs: budgets.Spending): void {
    for (const one of standings) {
      const { metric, used, most } = one;
      const crosses = (mark: number): boolean => used >= mark && tidy(used - (costs[metric] ?? 0)) < mark;
      const warning = `${amountText(used)} of ${limitWords(one)} are spent`;
      const { tell } = this.#parts.facts;
      if (crosses(most)) tell({ type: 'budget.spent', ...aboutLimit(one), message: budgetSpentText(one) });
      else if (crosses(most * warnsFrom)) tell({ type: 'budget.warning', ...aboutLimit(one), message: warning });
    }
  }
}

/** A limit as facts tell of it, with the session or the integration that it is of. */
function aboutLimit({ scope, per, metric, most, used }: budgets.Standing) {
  const [kind = ''] = scope.split(':');
  const name = /^(?:session|integration)$/.test(kind) && { [kind]: nameOfScope(scope) };
  return { scope, ...name, per, metric, most, used };
}
