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
  #calls: Answered[] = [];

  /** Notes a call that may have effects, where its answer is its end, or says that nobody knows it. @param now - monotonic time in ms. */
  add(call: ClientCall, outcome: Outcome<McpAnswer>, now: number): void {
    if (call.row?.settings.keep === undefined || call.row.expectedEffect === 'readOnly' || call.asTask) return;
    if (outcome.ok ? asksAgain(outcome.value) : outcome.failure.outcome !== 'unknown' || outcome.failure.kept) return;
    let bytes = 0;
    const held: Answered[] = [[call, outcome, now], ...this.#calls.slice(0, most.calls - 1)];
    this.#calls = held.filter(([each, , at]) => at > now - crossingMs && (bytes += each.answerBytes) <= most.bytes);
  }

  /** A client cancels a call that was answered: where that has crossed the answer, the next equal call is given it. */
  cancelled(key: string, reason: unknown, now: number, { starts }: CallPath<ClientCall, McpAnswer>): void {
    const index = this.#calls.findIndex(([{ request }]) => request.key === key);
    for (const [{ row, startedAt }, outcome, at] of index < 0 ? [] : this.#calls.splice(index, 1))
      if (row !== undefined && at > now - crossingMs && isClientLimit(reason, now - startedAt, true))
        starts.takeBack(row, outcome, at);
  }
}
