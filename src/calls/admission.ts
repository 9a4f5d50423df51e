import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Call } from './call.ts';
import type { Waiting } from './callProgress.ts';
import type { RefusalEpisode } from './recorder/callRecords.ts';
import type { PathState } from './pathState.ts';
import * as refusal from './refusal.ts';

/**
 * Next step of a call without an attempt: it gets an attempt (`pass`), tries the open circuit (`probe`), waits, or ends. `over`: it has ended already.
 * Refusals that come in floods are words: their facts are made where they are told.
 */
export type Admission =
  | 'pass'
  | 'probe'
  | 'await_probe'
  | 'await_restart'
  | 'await_rate'
  | 'refuse_open'
  | 'refuse_too_many'
  | 'over'
  | { readonly awaits: Waiting; readonly until: number }
  | { readonly failsOf: FailureFacts }
  | { readonly refusedFor: FailureFacts; readonly episode?: RefusalEpisode | undefined };

/**
 * Decides what a call does before each of its attempts; changes nothing. The order is the contract: the first rule that keeps the call
 * names the reason.
 * @param now - monotonic time in ms.
 */
export function admit<I, O>(state: PathState<I, O>, call: Call<I, O>, now: number): Admission {
  if (call.settled || call.failed) return 'over';
  const { options, circuit, permits, suspicion } = state;
  const { name, policy } = options;
  const { link } = circuit;
  const { signal, overallMs } = call.settings;
  const { lastFailure } = call.progress;
  if (state.stopped) return { refusedFor: refusal.stopped(name) };
  // The signal has been aborted, but this call has not been told yet: another call with the same signal was told first.
  if (signal?.aborted === true) return { failsOf: refusal.cancelled(signal.reason, false) };
  if (now >= call.overallDue) return { failsOf: lastFailure ?? refusal.notStarted(overallMs) };
  if (!link.closed) return link.isOpen ? admitWhileOpen(state, call, now) : 'await_restart';
  const ofTool = refusedByTool(state, call, now);
  if (ofTool !== undefined) return ofTool;
  if (link.pausedUntil > now && !state.pauseProbe.isWanted(now)) {
    const outlastsPause = link.pausedUntil < Math.min(call.overallDue, state.draining.cutAt);
    if (outlastsPause) return { awaits: 'pause', until: link.pausedUntil };
    return { failsOf: refusal.paused(name, link.pausedUntil - now, lastFailure) };
  }
  if (suspicion.raised) return { awaits: 'suspect', until: call.overallDue };
  if (state.scopes.mustWait(call)) return awaitScope(state, call, now);
  if (permits.free) return options.rate === undefined ? 'pass' : admitByRate(state, call, now);
  const mayWait = call.progress.accepted || state.waiting.queued < policy.queueLength;
  return mayWait ? { awaits: 'permit', until: call.overallDue } : 'refuse_too_many';
}

function admitWhileOpen<I, O>(state: PathState<I, O>, call: Call<I, O>, now: number): Admission {
  const { circuit, permits, scopes, options } = state;
  const isDue = circuit.isProbeDue(now);
  // Checked first: a call that its tool refuses must not take the place of a probe.
  const ofTool = isDue ? refusedByTool(state, call, now) : undefined;
  if (ofTool !== undefined) return ofTool;
  if (options.probe !== undefined && call.expectedEffect !== 'readOnly') return 'await_probe';
  if (isDue && scopes.mustWait(call)) return awaitScope(state, call, now);
  if (isDue && !permits.free) return 'refuse_too_many';
  return isDue || options.everyEvent === true ? 'probe' : 'refuse_open';
}

function refusedByTool<I, O>({ tools }: PathState<I, O>, call: Call<I, O>, now: number): Admission | undefined {
  const facts = tools.size > 0 ? tools.refusalOf(call, now) : undefined;
  return facts && { refusedFor: facts, episode: tools.episodeOf(call) };
}

/** Work that ran in the scope before is being ended, which takes its grace at most. */
function awaitScope<I, O>({ options }: PathState<I, O>, call: Call<I, O>, now: number): Admission {
  return { awaits: 'scope', until: Math.min(now + options.policy.abortGraceMs, call.overallDue) };
}

/** Last of all: what is there is promised to the first in line, and nothing else keeps that one back. */
function admitByRate<I, O>({ draining, options }: PathState<I, O>, call: Call<I, O>, now: number): Admission {
  const { rate, passesRate, lastFailure } = call.progress;
  if (rate === undefined || passesRate) return 'pass';
  const patienceMs = Math.min(call.overallDue, draining.cutAt) - now;
  const waitMs = rate.bucket.waitOf(rate, patienceMs);
  rate.waitMs = waitMs;
  if (waitMs === 0) return 'pass';
  return waitMs < patienceMs ? 'await_rate' : { refusedFor: refusal.rateLimited(options.name, rate, lastFailure) };
}
