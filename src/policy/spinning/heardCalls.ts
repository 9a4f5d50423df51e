import type { Clock } from '../clock.ts';
import type { Facts } from '../facts/facts.ts';
import type { FailureFacts } from '../failures/failure.ts';
import type { SeenAnswer } from './answerKey.ts';
import type { SpinningLimits } from './spinningRule.ts';
import { seenCall, type SeenCall, spinningNews, SpinningWatch } from './spinningWatch.ts';

/** Whose calls they are, and who is told of their repetition. */
export interface Caller {
  readonly clock: Pick<Clock, 'now' | 'wallNow'>;
  readonly facts: Facts;
  readonly integration: string;
  readonly session: () => string | undefined;
  /** Told why it is to end. */
  readonly end: (why: FailureFacts) => void;
}

/** Calls that wait for their answers, and agents that are told apart; the oldest go first. */
const mostOpen = 1000;
const mostAgents = 32;

/** Calls that an agent makes by itself, as it tells of them, those of each sub-agent apart. Takes at most 16 kB for each. */
export class HeardCalls {
  readonly #limits: SpinningLimits;
  readonly #caller: Caller;
  readonly #open = new Map<unknown, { readonly call: SeenCall; readonly by: unknown; readonly at: number }>();
  readonly #watches = new Map<unknown, SpinningWatch>();

  constructor(limits: SpinningLimits, caller: Caller) {
    this.#limits = limits;
    this.#caller = caller;
  }

  /** A call is told of; again where more is known of it. @param id - by which its answer is known. @param by - the sub-agent that makes it. */
  called(id: unknown, call: Omit<SeenCall, 'key'>, by?: unknown): void {
    const at = this.#open.get(id)?.at ?? this.#caller.clock.now();
    keep(this.#open, id, { call: seenCall(call), by, at }, mostOpen);
  }

  answered(id: unknown, answer: SeenAnswer): void {
    const open = this.#open.get(id);
    if (open === undefined || !this.#open.delete(id)) return;
    const { clock, facts, integration, session, end } = this.#caller;
    const { call, by, at } = open;
    const watch = this.#watches.get(by) ?? new SpinningWatch(this.#limits);
    keep(this.#watches, by, watch, mostAgents);
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
    for (const watch of this.#watches.values()) watch.mark();
  }
}

/** Sets a key as the newest of a map, whose oldest goes where it has too many. */
export function keep<T>(map: Map<unknown, T>, key: unknown, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value);
}
