import { inWholeMs } from '../policy/duration.ts';
import type { Facts } from '../policy/facts.ts';
import { done, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import type { SessionTurn } from './sessionTurn.ts';
import { type TurnUnderWay, whyTurn } from './turnWhy.ts';
import type { RuleWhy } from './why.ts';

/** What the orders about a turn need of the session. */
export interface OrderedTurns {
  readonly id: string;
  readonly facts: Pick<Facts, 'tell'>;
  /** @returns the turn under way. */
  readonly running: () => TurnUnderWay | undefined;
  /** Whether that was told to end. */
  readonly isEnding: () => boolean;
  readonly now: () => number;
  /** Ends the turn as the watchdog does, which tells of it. */
  readonly turnStalled: (turn: number) => void;
  /** Ends the turn for an operator. */
  readonly cancelTurn: (turn: number) => void;
}

/** What an operator orders about the turn under way. Each order is told before it is carried out. */
export class TurnOrders {
  readonly #turns: OrderedTurns;

  constructor(turns: OrderedTurns) {
    this.#turns = turns;
  }

  /** Has a rule act now, as if its time had come. @param rule - its id, as the why of the session told it. */
  fire(rule: string, note: OrderNote): OrderResult {
    const running = this.#turns.running();
    if (running === undefined) return notDone('No turn is under way: nothing waits for a rule.');
    const { rules } = whyTurn(running, this.#turns.now());
    const found = rules.find(({ id }) => id === rule);
    if (found === undefined) return notDone(gone(rule, rules));
    if (this.#turns.isEnding()) return notDone(ending);
    return this.#fire(running.turn, found, note);
  }

  #fire(turn: SessionTurn, found: RuleWhy, note: OrderNote): OrderResult {
    const { id, rule, what, call, inMs } = found;
    const announce = (): void => {
      const integration = turn.pendingCalls().find((pending) => pending.call.call === call)?.call.integration;
      const about = inWholeMs({ session: this.#turns.id, turn: turn.number, rule, what, call, integration, inMs });
      this.#turns.facts.tell({ type: 'operator.fired', ...about, ...note });
    };
    if (rule === 'turn') {
      announce();
      this.#turns.turnStalled(turn.number);
      return done;
    }
    if (rule === 'question') return turn.fireQuestion(id, announce);
    return turn.fireCall(call ?? '', id, announce);
  }

  /** Has no further attempt of a call follow; one in flight goes on. */
  stopRetrying(call: string, note: OrderNote): OrderResult {
    const { turn, pending } = this.#find(call);
    if (turn === undefined || pending === undefined) return noCall(call);
    const { integration, tool, progress } = pending;
    return turn.stopRetrying(call, () =>
      this.#turns.facts.tell({
        type: 'operator.retries_stopped',
        session: this.#turns.id,
        ...{ call, integration, tool, attempt: progress?.attempt ?? 0 },
        ...note,
      }),
    );
  }

  /** Ends a call, or without one the turn. The session goes on. */
  cancel(call: string | undefined, note: OrderNote): OrderResult {
    const { id: session, facts } = this.#turns;
    const { turn, pending } = this.#find(call);
    if (turn === undefined) return notDone('No turn is under way: there is nothing to cancel.');
    if (this.#turns.isEnding()) return notDone(ending);
    if (call === undefined) {
      facts.tell({ type: 'operator.cancelled', session, turn: turn.number, ...note });
      this.#turns.cancelTurn(turn.number);
      return done;
    }
    if (pending === undefined) return noCall(call);
    const { integration, tool } = pending;
    facts.tell({ type: 'operator.cancelled', session, turn: turn.number, call, integration, tool, ...note });
    return turn.cancelCall(call);
  }

  #find(call: string | undefined) {
    const turn = this.#turns.running()?.turn;
    const pending = turn?.pendingCalls().find((each) => each.call.call === call)?.call;
    return { turn, pending };
  }
}

const ending = 'The turn has been told to end already.';

const noCall = (call: string): OrderResult =>
  notDone(`The call ${call} is not pending: it has ended, or there never was one.`);

/** Why a rule is not there, and what is. */
function gone(rule: string, rules: readonly RuleWhy[]): string {
  const [next] = rules;
  const now = next === undefined ? '' : ` Next is ${next.rule} of ${next.what} now (${next.id}).`;
  return `The rule ${rule} is over: what the session waits for has changed since it was shown.${now}`;
}
