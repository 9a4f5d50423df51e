import type { IntegrationView } from './integrationView.ts';
import { formatDuration } from '../src/policy/text/face.ts';

/** Next call of an integration that is not called now. */
interface NextTry {
  /** In whole seconds as ms; 0 when it is due. */
  readonly inMs: number;
  /** Its server asked not to be called before: that is what keeps it from being tried. */
  readonly isAsked: boolean;
}

/** Finds when a call is let through next where the circuit is open or the server asked for a pause. */
export function nextTryOf({ circuit, live, breaker }: IntegrationView, now: number): NextTry {
  const shown = live.find((each) => each.circuit === circuit);
  // A wall clock that was set back must not show more than it was ever told.
  const left = (until: number, mostMs: number): number => Math.min(until - now, mostMs);
  const { openUntil = 0, lastOpenMs = 0, pausedUntil = 0, pausedAt = 0 } = breaker ?? {};
  const openMs = circuit === 'open' ? (shown?.probeInMs ?? left(openUntil, lastOpenMs)) : 0;
  const pausedMs = shown === undefined ? left(pausedUntil, pausedUntil - pausedAt) : (shown.pausedForMs ?? 0);
  const inMs = inSeconds(Math.max(0, openMs, pausedMs));
  return { inMs, isAsked: inMs > 0 && pausedMs > openMs };
}

/** Says when that is. */
export function nextTryText(inMs: number): string {
  return inMs > 0 ? `next try in ${formatDuration(inMs)}` : 'the next call tries it';
}

/** In whole seconds, as ms. */
export function inSeconds(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}
