import type { CallPath } from '../../src/calls/face.ts';
import type { Outcome } from '../../src/policy/failures/face.ts';
import type { McpAnswer } from '../../src/protocol/mcp/face.ts';
import { isClientLimit } from './cancelReasons.ts';
import type { ClientCall } from './clientCall.ts';
import { asksAgain } from './repetition.ts';

type Answered = readonly [call: ClientCall, outcome: Outcome<McpAnswer>, at: number];

/** A cancel that crosses an answer comes within a round trip, or once a busy client reads: after so long, in ms, there is none. */
const crossingMs = 10_000;
/** Bounds on what is held: the latest, with answers of so many bytes together. */
const most = { calls: 32, bytes: 4_000_000 };

/** Calls that were answered a moment ago: one whose client gave it up at its own limit meanwhile has told nobody of the answer. */
export class AnsweredCalls {
  /** The oldest first, behind places of so many that have gone: to move all for each that goes takes longer than all the rest. */
  #calls: (Answered | undefined)[] = [];
  #gone = 0;
  #bytes = 0;

  /** Notes a call that may have effects, where its answer is its end, or says that nobody knows it. @param now - monotonic time in ms. */
  add(call: ClientCall, outcome: Outcome<McpAnswer>, now: number): void {
    if (call.row?.settings.keep === undefined || call.row.expectedEffect === 'readOnly' || call.asTask) return;
    if (outcome.ok ? asksAgain(outcome.value) : outcome.failure.outcome !== 'unknown' || outcome.failure.kept) return;
    const calls = this.#calls;
    this.#bytes += call.answerBytes;
    calls.push([call, outcome, now]);
    for (let oldest = calls[this.#gone]; oldest !== undefined; oldest = calls[this.#gone]) {
      const isFew = calls.length - this.#gone <= most.calls && this.#bytes <= most.bytes;
      if (isFew && oldest[2] > now - crossingMs) break;
      calls[this.#gone++] = undefined;
      this.#bytes -= oldest[0].answerBytes;
    }
    if (this.#gone < most.calls) return;
    this.#calls = calls.slice(this.#gone);
    this.#gone = 0;
  }

  /** A client cancels a call that was answered: where that has crossed the answer, the next equal call is given it. */
  cancelled(key: string, reason: unknown, now: number, { starts }: CallPath<ClientCall, McpAnswer>): void {
    const index = this.#calls.findLastIndex((each) => each?.[0].request.key === key);
    const [call, outcome, at = 0] = index < 0 ? [] : this.#takeOut(index);
    if (call?.row === undefined || outcome === undefined || at <= now - crossingMs) return;
    if (isClientLimit(reason, now - call.startedAt, true)) starts.takeBack(call.row, outcome, at);
  }

  #takeOut(index: number): Answered | readonly [] {
    const [taken] = this.#calls.splice(index, 1);
    if (taken === undefined) return [];
    this.#bytes -= taken[0].answerBytes;
    return taken;
  }
}
