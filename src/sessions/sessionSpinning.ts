import type { Effect } from '../policy/effects.ts';
import type { Failure, FailureFacts } from '../policy/failures/failure.ts';
import type { SeenAnswer } from '../policy/spinning/answerKey.ts';
import { defaultWindow } from '../policy/spinning/callRing.ts';
import { limitsOf, ownLimits, type SpinningLimits } from '../policy/spinning/spinningRule.ts';
import type { SeenCall, SpinningVerdict } from '../policy/spinning/spinningWatch.ts';
import { seenCall, spinningNews, SpinningWatch } from '../policy/spinning/spinningWatch.ts';
import { isGivenAgain } from './earlierAnswers.ts';
import type { HistoryEntry } from './history.ts';
import type { SessionScope } from './sessionScope.ts';
import { noted, partsOf, type ToolResult } from './toolResult.ts';
import type { SessionWhy } from './why.ts';

/** A call that is judged. */
export interface JudgedCall {
  readonly entry: Extract<HistoryEntry, { type: 'tool_call' }>;
  readonly seen: SeenCall;
  /** Answers that its handler had heard of: who makes calls side by side has not heard of the others, which neither refuse it nor end its turn. */
  readonly heard: number;
}

/** Kinds of failures that ask for a wait. */
const waiting = new Set<unknown>(['circuit_open', 'too_many_requests', 'unavailable', 'rate_limit', 'quota']);

/** Repetition among the tool calls of one session. It begins with what the history has: a count goes on after a restart or a take-over. */
export class SessionSpinning {
  readonly #scope: SessionScope;
  readonly #limits: SpinningLimits;
  #watch: SpinningWatch;
  /** Call that an operator has refused. */
  #held: number | undefined;
  readonly #end: (turn: number, facts: FailureFacts) => void;
  /** The message of the last call. */
  #message: string | undefined = undefined;
  #answers = 0;
  #heard = 0;
  #last: { readonly call: JudgedCall; readonly verdict: SpinningVerdict; readonly place: number } | undefined;

  constructor(scope: SessionScope, end: (turn: number, facts: FailureFacts) => void) {
    this.#scope = scope;
    this.#limits = limitsOf(scope.spinning, ownLimits) ?? ownLimits;
    this.#watch = new SpinningWatch(this.#limits);
    this.#end = end;
    const { entries } = scope.history;
    const calls = new Map(entries.flatMap((entry) => (entry.type === 'tool_call' ? [[entry.call, entry]] : [])));
    const messages = entries.filter((entry) => entry.type === 'message');
    const results = entries.filter((entry) => entry.type === 'tool_result').slice(-defaultWindow);
    for (const { turn, call, result, at } of results) {
      const entry = calls.get(call);
      if (entry === undefined || result.joined === true) continue;
      // Of a message its last delivery is kept, and the calls of all.
      const message = messages.find((each) => each.turn >= turn)?.id;
      const { seen } = this.begin(entry, message, scope.tools.effect(entry.integration, entry.tool, entry.input));
      const answer = answerOf(result, at - entry.at);
      if (answer === undefined) this.#watch.before(seen);
      else this.#watch.after(seen, answer, at);
    }
  }

  /** Takes a call before it is made. @param message - that its turn works on: at a further delivery it is the same work. */
  begin(entry: JudgedCall['entry'], message: string | undefined, effect: Effect | undefined): JudgedCall {
    if (message !== this.#message) this.#watch.mark();
    if (message !== this.#message) this.#held = undefined;
    this.#message = message;
    const { integration, tool, input } = entry;
    const rule = this.#scope.tools.repeatRule(integration, tool);
    return { entry, seen: seenCall({ tool: `${integration} ${tool}`, input, effect, rule }), heard: this.#heard };
  }

  /** Asked once, before it is made. @returns what it is refused for; undefined: it is made */
  refusal(call: JudgedCall): FailureFacts | undefined {
    const held = `${call.entry.tool} was repeated: an operator holds equal calls. Do something else.`;
    if (call.seen.key.call === this.#held) return { kind: 'spinning', message: held, outcome: 'not_started' };
    const verdict = call.heard === this.#answers ? this.#watch.before(call.seen) : undefined;
    return verdict && { kind: 'spinning', message: this.#tell(call, verdict) ?? '', outcome: 'not_started' };
  }

  /** Takes its one answer. @returns the same, with a sentence where the agent is told. Never throws. */
  answered(call: JudgedCall, result: ToolResult, failure: Failure | undefined): ToolResult {
    const wallNow = this.#scope.clock.wallNow();
    try {
      const answer = answerOf(result, wallNow - call.entry.at, failure);
      if (answer === undefined) return result;
      const verdict = this.#watch.after(call.seen, answer, wallNow);
      const text = this.#tell(call, verdict);
      return text === undefined || verdict?.step === 'hold' ? result : noted(result, text);
    } catch {
      // A getter or a proxy: what cannot be read is not judged.
      return result;
    }
  }

  /** Tells what repeats in a turn, as of its last calls. */
  why(turn: number): SessionWhy['spinning'] {
    // A cycle has at most five calls.
    if (this.#last?.call.entry.turn !== turn || this.#answers - this.#last.place >= 5) return undefined;
    const { call, verdict } = this.#last;
    const { integration, tool } = call.entry;
    const id = String(call.seen.key.call);
    return { ...spinningNews(call.seen.tool, verdict), id, integration, tool, next: verdict.next };
  }

  /** Has the call that {@link why} tells of refused until the next message, or all calls counted anew. */
  ordered(order: 'hold' | 'let_go_on'): void {
    this.#held = order === 'hold' ? this.#last?.call.seen.key.call : undefined;
    if (order === 'let_go_on') [this.#watch, this.#last] = [new SpinningWatch(this.#limits), undefined];
  }

  /** Notes an answer, tells people of its verdict where that is news, and ends the turn by it. @returns its text */
  #tell(call: JudgedCall, verdict: SpinningVerdict | undefined): string | undefined {
    const { id: session, facts, clean } = this.#scope;
    const { turn, integration, tool } = call.entry;
    const text = verdict?.text && clean(verdict.text);
    const ends = verdict?.step === 'end' && call.heard === this.#answers;
    const place = ++this.#answers;
    // Before its handler goes on, and after it is told that the call failed.
    queueMicrotask(() => {
      this.#heard = place;
      if (ends) this.#end(turn, { kind: 'spinning', message: text ?? '', outcome: 'unknown' });
    });
    if (verdict !== undefined) this.#last = { call, verdict, place };
    else if (this.#last?.call.seen.key.call === call.seen.key.call) this.#last = undefined;
    if (verdict?.isNews !== true) return text;
    facts.tell({
      type: 'session.spinning',
      session,
      turn,
      integration,
      ...spinningNews(call.seen.tool, verdict),
      tool,
    });
    return text;
  }
}

/** A result as it stands in the history, to be the same after a restart. Undefined: nothing has answered, as it was refused, ended here, or answered before. */
function answerOf(result: ToolResult, tookMs: number, failure?: Failure): SeenAnswer | undefined {
  if (isGivenAgain(result)) return undefined;
  const { note } = result;
  if (result.status === 'ok') {
    const parts = note === undefined ? undefined : partsOf(result.value);
    const content = parts?.at(-1)?.text === note ? parts?.slice(0, -1) : undefined;
    return { ok: true, value: content ? { ...(result.value as object), content } : result.value, tookMs };
  }
  const { error, retryAfterMs = failure?.retryAfterMs } = result;
  const kind = 'kind' in result ? result.kind : 'error';
  if (kind === 'cancelled' || kind === 'spinning') return undefined;
  const message = note !== undefined && error.endsWith(note) ? error.slice(0, -note.length).trimEnd() : error;
  return { ok: false, kind, message, tookMs, waits: retryAfterMs ?? waiting.has(failure?.kind ?? kind) };
}
