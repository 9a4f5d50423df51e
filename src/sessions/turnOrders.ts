import { inWholeMs } from '../policy/text/duration.ts';
import { done, notDone, type OrderNote, type OrderResult, said } from '../policy/operatorOrder.ts';
import type { SessionScope } from './sessionScope.ts';
import type { SessionTurn } from './sessionTurn.ts';
import { turnEnds } from './turnEnds.ts';
import type { Turns } from './turns.ts';
import { whyTurn } from './turnWhy.ts';
import type { RuleWhy } from './why.ts';

/** Orders of an operator about the turn under way. Each order is told before it is carried out. */
export class TurnOrders {
  readonly #scope: SessionScope;
  readonly #turns: Turns;
  readonly #leaveTurn: () => void;

  /** @param leaveTurn - leaves the turn behind that was told to end. */
  constructor(scope: SessionScope, turns: Turns, leaveTurn: () => void) {
    this.#scope = scope;
    this.#turns = turns;
    this.#leaveTurn = leaveTurn;
  }

  /** Has a rule act now, as if its time had come. @param rule - its id, as the why of the session told it. */
  fire(rule: string, note: OrderNote): OrderResult {
    const running = this.#turns.running;
    if (running === undefined) return notDone('No turn is under way: nothing waits for a rule.');
    const { rules } = whyTurn(running, this.#scope.clock.now(), this.#scope.watchdog.releaseMs);
    const found = rules.find(({ id }) => id === rule);
    if (found === undefined) return notDone(this.#turns.cutFor ? ending : gone(rule, rules));
    return said(this.#fire(running.turn, found, note), firedText(found, this.#scope.id));
  }

  #fire(turn: SessionTurn, found: RuleWhy, note: OrderNote): OrderResult {
    const { id, rule, what, call, inMs } = found;
    const announce = (): void => {
      const integration = turn.calls.pending().find((pending) => pending.call.call === call)?.call.integration;
      const about = inWholeMs({ session: this.#scope.id, turn: turn.number, rule, what, call, integration, inMs });
      this.#scope.facts.tell({ type: 'operator.fired', ...about, ...note });
    };
    if (rule === 'turn') {
      announce();
      this.#turns.stalled(turn.number, note);
      return done;
    }
    if (rule === 'release') {
      announce();
      this.#leaveTurn();
      return done;
    }
    if (rule === 'question') return turn.questions.fire(id, announce, note);
    return turn.calls.fire(call ?? '', id, announce, note);
  }

  /** Has no further attempt of a call follow; one in flight goes on. */
  stopRetrying(call: string, note: OrderNote): OrderResult {
    const { turn, pending } = this.#find(call);
    if (turn === undefined || pending === undefined) return noCall(call, turn);
    const { integration, tool, progress } = pending;
    const { id: session } = this.#scope;
    const result = turn.calls.stopRetrying(call, () =>
      this.#scope.facts.tell({
        type: 'operator.retries_stopped',
        session,
        ...{ call, integration, tool, attempt: progress?.attempt ?? 0 },
        ...note,
      }),
    );
    return result.ok
      ? { ok: true, text: `The call ${tool} (${call}) of session ${session} is not tried again. ${result.text}` }
      : result;
  }

  /** Has further equal calls refused, or the count begin anew. @param id - of the repetition, as the why told it. */
  repetition(order: 'hold' | 'let_go_on', id: string, note: OrderNote): OrderResult {
    const { running, repeats } = this.#turns;
    const turn = running?.turn.number ?? 0;
    const found = repeats?.why(turn);
    if (found?.id !== id) return notDone('That call is not repeated any more: nothing was done.');
    const about = { session: this.#scope.id, turn, tool: found.tool, order };
    this.#scope.facts.tell({ type: 'operator.repetition', ...about, ...note });
    repeats?.ordered(order);
    const done = order === 'hold' ? 'Equal calls are refused until the next message' : 'Repetition is counted anew';
    return { ok: true, text: `${done} in session ${about.session}.` };
  }

  /** Ends a call, or without one the turn. The session goes on. */
  cancel(call: string | undefined, note: OrderNote): OrderResult {
    const { id: session, facts } = this.#scope;
    const { turn, pending } = this.#find(call);
    if (turn === undefined) return notDone('No turn is under way: there is nothing to cancel.');
    if (this.#turns.cutFor !== undefined) return notDone(ending);
    if (call === undefined) {
      facts.tell({ type: 'operator.cancelled', session, turn: turn.number, ...note });
      this.#turns.end(turn.number, turnEnds.cancelled);
      return { ok: true, text: `Turn ${turn.number} of session ${session} was told to end; the session goes on.` };
    }
    if (pending === undefined) return noCall(call, turn);
    const { integration, tool } = pending;
    facts.tell({ type: 'operator.cancelled', session, turn: turn.number, call, integration, tool, ...note });
    const sentence = `The call ${tool} (${call}) of session ${session} was cancelled; its caller got a synthetic error result.`;
    return said(turn.calls.cancel(call), sentence);
  }

  #find(call: string | undefined) {
    const turn = this.#turns.running?.turn;
    const pending = turn?.calls.pending().find((each) => each.call.call === call)?.call;
    return { turn, pending };
  }
}

const ending = 'The turn has been told to end already.';

/** Why a call is not there, and which are. */
function noCall(call: string, turn: SessionTurn | undefined): OrderResult {
  const pending = turn?.calls.pending().map((each) => `${each.call.call} (${each.call.tool})`) ?? [];
  const known = pending.length === 0 ? 'no call is' : `pending: ${pending.join(', ')}`;
  return notDone(`The call ${call} is not pending: it has ended, or there never was one; ${known}.`);
}

/** Says what the act of a rule has done. */
function firedText({ rule, what, call }: RuleWhy, session: string): string {
  const name = call === undefined ? what : `${what} (${call})`;
  if (rule === 'turn') return `The watchdog ended ${what} of session ${session}; the session goes on.`;
  if (rule === 'release') return `${sentenceOf(what)} of session ${session} was left behind; the session goes on.`;
  if (rule === 'question') return `Nobody is waited for any more to answer the question of session ${session}: ${what}`;
  if (rule === 'tool_call')
    return `The watchdog ended the call ${name} of session ${session}; its caller got a synthetic error result.`;
  return `The rule ${rule} of the call ${name} of session ${session} has acted as if its time had come.`;
}

const sentenceOf = (what: string): string => `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`;

/** Why a rule is not there, and what is. */
function gone(rule: string, rules: readonly RuleWhy[]): string {
  const [next] = rules;
  const now = next === undefined ? '' : ` Next is ${next.rule} of ${next.what} now (${next.id}).`;
  const known = rules.length < 2 ? '' : ` All of them: ${rules.map(({ id }) => id).join(', ')}.`;
  return `The rule ${rule} is over, or there never was one: what the session waits for has changed since it was shown.${now}${known}`;
}
