import type { ModelUsage, Spending } from '../budget.ts';
import type { Clock } from '../clock.ts';
import type { Facts } from '../facts/facts.ts';
import type { FailureFacts } from '../failures/failure.ts';
import type { SeenAnswer } from './answerKey.ts';
import { keepNewest } from './keepNewest.ts';
import { chosenLimits, type SpinningLimits } from './spinningRule.ts';
import { seenCall, type SeenCall, spinningNews, SpinningWatch } from './spinningWatch.ts';

/** Budget that they are counted against. */
export interface HeardBudget {
  spend(costs: Spending, turn: number): void;
  used(usage: ModelUsage): void;
  /** Why nothing new is begun. */
  refusal(costs: Spending): FailureFacts | undefined;
}

/** Whose calls they are, and who is told of their repetition. */
export interface Caller {
  readonly clock: Pick<Clock, 'now' | 'wallNow'>;
  readonly facts: Facts;
  readonly integration: string;
  readonly session: () => string | undefined;
  /** Budgets of the run, and of all of its name. @defaultValue none */
  readonly budgets?: readonly HeardBudget[] | undefined;
  /** Told why it is to end. */
  readonly end: (why: FailureFacts) => void;
}

type OpenCall = Readonly<{ call: SeenCall; by: unknown; at: number }>;

/** Calls that wait for their answers, and agents that are told apart; the oldest go first. */
const mostOpen = 1000;
const mostAgents = 32;

/** Calls that an agent makes by itself, as it tells of them, those of each sub-agent apart. Takes at most 16 kB for each. */
export class HeardCalls {
  readonly #limits: SpinningLimits;
  readonly #caller: Caller;
  readonly #open = new Map<unknown, OpenCall>();
  readonly #watches = new Map<unknown, SpinningWatch>();
  #turn = 0;

  /** @param limits - undefined: repetition is not looked for. */
  constructor(limits: SpinningLimits | undefined, caller: Caller) {
    this.#limits = limits ?? chosenLimits('off');
    this.#caller = caller;
  }

  /** A call is told of; again where more is known of it. @param id - by which its answer is known. @param by - the sub-agent that makes it. */
  called(id: unknown, call: Omit<SeenCall, 'key'>, by?: unknown): void {
    const known = this.#open.get(id);
    if (known === undefined) this.#spend({ toolCalls: 1, rounds: this.#isBetween ? 1 : 0 });
    const at = known?.at ?? this.#caller.clock.now();
    keepNewest(this.#open, id, { call: seenCall(call), by: by ?? this, at }, mostOpen);
  }

  answered(id: unknown, answer: SeenAnswer): void {
    const open = this.#open.get(id);
    if (open === undefined || !this.#open.delete(id)) return;
    this.#judge(open, answer);
    if (!this.#isBetween) return;
    const spent = this.#caller.budgets?.map((budget) => budget.refusal({})).find((each) => each !== undefined);
    if (spent !== undefined) this.#caller.end({ ...spent, outcome: 'unknown' });
  }

  /** Why nothing new is begun in this run, by its own budget; takes costs where it may. */
  refusal(costs: Spending): FailureFacts | undefined {
    return this.#caller.budgets?.[0]?.refusal(costs);
  }

  /** The answer of a model told of its usage. */
  used(usage: ModelUsage): void {
    for (const budget of this.#caller.budgets ?? []) budget.used(usage);
  }

  /** True where no call is open but those that are the work of sub-agents, whose own calls are all answered. */
  get #isBetween(): boolean {
    return [...this.#open.keys()].every((id) => this.#watches.has(id));
  }

  #spend(costs: Spending): void {
    for (const budget of this.#caller.budgets ?? []) budget.spend(costs, this.#turn);
  }

  #judge({ call, by, at }: OpenCall, answer: SeenAnswer): void {
    const { clock, facts, integration, session, end } = this.#caller;
    const watch = this.#watches.get(by) ?? new SpinningWatch(this.#limits);
    keepNewest(this.#watches, by, watch, mostAgents);
    const verdict = watch.after(call, { tookMs: clock.now() - at, ...answer }, clock.wallNow());
    if (verdict === undefined) return;
    const news = spinningNews(call.tool, verdict);
    if (verdict.isNews)
      facts.tell({ type: 'session.spinning', session: session() ?? integration, integration, ...news });
    const message = `It spins, and was ended: ${news.message} ("${news.answer}")`;
    if (news.step === 'hold' || news.step === 'end') end({ kind: 'spinning', message, outcome: 'unknown' });
  }

  /** A new message of a person is worked on. */
  mark(): void {
    this.#turn++;
    this.#spend({});
    for (const watch of this.#watches.values()) watch.mark();
  }
}
