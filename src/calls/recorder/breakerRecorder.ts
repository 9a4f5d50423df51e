import { breakerOutcome } from '../../policy/breaker.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { Attempt } from '../attempt.ts';
import type { Call } from '../call.ts';
import type { PathState } from '../pathState.ts';

/** Recorder of the end of an attempt for the circuit of its integration and for that of its tool. */
export class BreakerRecorder<I, O> {
  readonly #state: PathState<I, O>;

  constructor(state: PathState<I, O>) {
    this.#state = state;
  }

  /** An attempt was answered. */
  answered(attempt: Attempt<Call<I, O>>): void {
    const { tools, circuit, pauseProbe } = this.#state;
    const { call, fence } = attempt;
    if (tools.size > 0) tools.answered(call);
    circuit.answered(fence);
    if (pauseProbe.attempt === attempt) this.#pauseTried(attempt, true);
  }

  /** An attempt failed, for any reason. @param isLimit - a limit of its own or of its session passed. */
  failed(attempt: Attempt<Call<I, O>>, facts: FailureFacts, isLimit: boolean): void {
    const { circuit, tools } = this.#state;
    const counts = breakerOutcome(facts);
    this.#pauseTried(attempt, counts === 'alive');
    // Counted when it is known whether the server lives.
    if (isLimit && counts === 'failure' && this.#isSuspect(attempt)) {
      this.#state.suspicion.hold(attempt, facts);
      if (tools.toolOf(attempt.call) !== undefined) circuit.ignored(attempt.fence);
      return;
    }
    if (counts === 'failure' && isLimit && this.#isOfToolAlone(attempt)) {
      circuit.ignored(attempt.fence);
      this.#failedOfTool(attempt, facts);
      return;
    }
    if (counts === 'failure') this.#count(attempt, facts);
    else if (counts === 'alive') circuit.answered(attempt.fence);
    else circuit.ignored(attempt.fence);
    if (tools.size > 0) this.#tellTool(attempt.call, facts);
  }

  /** The server asked not to be called for now. */
  pause(pauseMs: number): void {
    if (!this.#state.circuit.pause(pauseMs)) return;
    this.#state.options.onPause?.(pauseMs);
    this.#state.records.paused(pauseMs);
  }

  /** The attempt ended with its server, which counts as one incident. */
  lost(attempt: Attempt<Call<I, O>>): void {
    const { tools } = this.#state;
    this.#pauseTried(attempt, false);
    if (tools.size > 0) tools.ignored(attempt.call);
  }

  /** An attempt has ended: it may have been let through to a server that asked not to be called. */
  #pauseTried(attempt: Attempt<Call<I, O>>, isAnswered: boolean): void {
    const { pauseProbe, options } = this.#state;
    if (pauseProbe.attempt !== attempt) return;
    options.releaseProbe?.();
    pauseProbe.ended(isAnswered);
  }

  /**
   * It is known whether the server lives: what was held until then is counted, or dropped with the server.
   * @param alive - what a tool did is then the tool's alone.
   * @returns whether it was suspect.
   */
  inquiryEnded(alive: boolean): boolean {
    const { suspicion, tools } = this.#state;
    const held = suspicion.clear();
    for (const { attempt, facts } of held ?? []) {
      if (!alive) tools.ignored(attempt.call);
      else if (tools.toolOf(attempt.call) !== undefined) this.#failedOfTool(attempt, facts);
      else this.#count(attempt, facts);
    }
    return held !== undefined;
  }

  #count(attempt: Attempt<Call<I, O>>, facts: FailureFacts): void {
    const { circuit, records } = this.#state;
    if (circuit.link.isCurrent(attempt.fence))
      circuit.failed(attempt.fence, facts, records.countedFailure(attempt, facts));
  }

  #failedOfTool(attempt: Attempt<Call<I, O>>, facts: FailureFacts): void {
    this.#state.tools.failed(attempt.call, this.#state.records.countedFailure(attempt, facts));
  }

  /** Tells whether a silence waits for the server's answer. An open circuit waits for its probe's end, whatever that is; a tool alone says nothing of it. */
  #isSuspect({ call }: Attempt<Call<I, O>>): boolean {
    const { suspicion, circuit, tools } = this.#state;
    return suspicion.raised && (circuit.link.closed || tools.toolOf(call) !== undefined);
  }

  /** Tells whether only the tool of an attempt passed its limit: others were answered meanwhile. A server that can be asked is asked instead. */
  #isOfToolAlone({ call, startedAt }: Attempt<Call<I, O>>): boolean {
    if (this.#state.options.onSilence !== undefined || this.#state.tools.toolOf(call) === undefined) return false;
    return this.#state.circuit.counts.hasAnsweredSince(startedAt);
  }

  /** Tells the tool of a failure that is not of the tool alone: an error within its limit is an answer of it. */
  #tellTool(call: Call<I, O>, facts: FailureFacts): void {
    const { tools } = this.#state;
    const isEnded = facts.kind === 'crash' || facts.kind === 'cancelled' || breakerOutcome(facts) === 'ignored';
    if (isEnded || facts.kind === 'timeout' || facts.kind === 'watchdog') tools.ignored(call);
    else tools.answered(call);
  }
}
