import type { FailureFacts } from '../policy/failure.ts';
import type { Call } from './call.ts';
import type { PathState } from './pathState.ts';
import * as refusal from './refusal.ts';

/**
 * Next step of a call without an attempt: it gets an attempt (`pass`), tries the open circuit (`probe`), waits (`await_…`), or ends (`refuse_…`, `fail_…`).
 * `over`: it has ended already.
 */
export type Admission =
  | 'pass'
  | 'probe'
  | 'await_probe'
  | 'await_restart'
  | 'await_pause'
  | 'await_suspect'
  | 'await_scope'
  | 'await_permit'
  | 'await_rate'
  | 'refuse_stopped'
  | 'refuse_too_many'
  | 'refuse_open'
  | 'refuse_tool'
  | 'refuse_rate'
  | 'fail_cancelled'
  | 'fail_out_of_time'
  | 'fail_paused'
  | 'over';

/**
 * Decides what a call does before each of its attempts; changes nothing. The order is the contract: the first rule that keeps the call
 * names the reason.
 * @param now - monotonic time in ms.
 */
export function admit<I, O>(state: PathState<I, O>, call: Call<I, O>, now: number): Admission {
  if (call.settled || call.failed) return 'over';
  const { circuit, permits, scopes, suspicion, tools } = state;
  const { link } = circuit;
  if (state.stopped) return 'refuse_stopped';
  // The signal has been aborted, but this call has not been told yet: another call with the same signal was told first.
  if (call.settings.signal?.aborted === true) return 'fail_cancelled';
  if (now >= call.overallDue) return 'fail_out_of_time';
  if (!link.closed) return link.isOpen ? admitWhileOpen(state, call, now) : 'await_restart';
  if (tools.size > 0 && tools.refuses(call, now)) return 'refuse_tool';
  if (link.pausedUntil > now && !state.pauseProbe.isWanted(now))
    return outlastsPause(state, call) ? 'await_pause' : 'fail_paused';
  if (suspicion.raised) return 'await_suspect';
  if (scopes.mustWait(call)) return 'await_scope';
  if (permits.free) return state.options.rate === undefined ? 'pass' : admitByRate(state, call, now);
  return call.progress.accepted || state.waiting.queued < state.options.policy.queueLength
    ? 'await_permit'
    : 'refuse_too_many';
}

function admitWhileOpen<I, O>(state: PathState<I, O>, call: Call<I, O>, now: number): Admission {
  const { circuit, permits, scopes, tools, options } = state;
  const isDue = circuit.isProbeDue(now);
  // Checked first: a call that its tool refuses must not take the place of a probe.
  if (isDue && tools.size > 0 && tools.refuses(call, now)) return 'refuse_tool';
  if (options.probe !== undefined && call.expectedEffect !== 'readOnly') return 'await_probe';
  if (isDue && scopes.mustWait(call)) return 'await_scope';
  if (isDue && !permits.free) return 'refuse_too_many';
  return isDue || options.everyEvent === true ? 'probe' : 'refuse_open';
}

/** Last of all: what is there is promised to the first in line, and nothing else keeps that one back. */
function admitByRate<I, O>({ draining }: PathState<I, O>, call: Call<I, O>, now: number): Admission {
  const { rate } = call.progress;
  if (rate === undefined || call.progress.passesRate) return 'pass';
  const patienceMs = Math.min(call.overallDue, draining.cutAt) - now;
  const waitMs = rate.bucket.waitOf(rate, patienceMs);
  rate.waitMs = waitMs;
  if (waitMs === 0) return 'pass';
  return waitMs < patienceMs ? 'await_rate' : 'refuse_rate';
}

function outlastsPause<I, O>({ circuit, draining }: PathState<I, O>, call: Call<I, O>): boolean {
  return circuit.link.pausedUntil < Math.min(call.overallDue, draining.cutAt);
}

/** The admissions that end a call. */
type AdmissionFailure = Extract<Admission, `refuse_${string}` | `fail_${string}`>;

/** The failure of a call that is not admitted. */
export function admissionFailure<I, O>(
  state: PathState<I, O>,
  call: Call<I, O>,
  admission: AdmissionFailure,
  now: number,
): FailureFacts {
  const { name, policy } = state.options;
  const { signal, overallMs } = call.settings;
  const { lastFailure } = call.progress;
  const { circuit, tools } = state;
  switch (admission) {
    case 'refuse_stopped':
      return refusal.stopped(name);
    case 'refuse_too_many':
      return refusal.tooMany(name, policy.maxInFlight);
    case 'refuse_tool':
      return tools.refusalOf(call, now) ?? circuit.refusal(lastFailure, now);
    case 'refuse_rate':
      return refusal.rateLimited(name, call.progress.rate, lastFailure);
    case 'fail_cancelled':
      return refusal.cancelled(signal?.reason, false);
    case 'fail_out_of_time':
      return lastFailure ?? refusal.notStarted(overallMs);
    case 'fail_paused':
      return refusal.paused(name, circuit.link.pausedUntil - now, lastFailure);
    case 'refuse_open':
      return circuit.refusal(lastFailure, now);
  }
}
