import type { FailureKind } from '../../src/policy/failure.ts';
import { type Incident, rowsIn } from '../incident.ts';
import { textOf } from './sessionPlan.ts';

/** Finds when the event loop had stood still, and for how long; what is told of it comes at its end. */
export function stallsOf(
  { events }: Pick<Incident, 'events'>,
  origin: number,
): readonly { readonly at: number; readonly stalledMs: number }[] {
  return events.flatMap(({ at, category, type, metadata }) => {
    const stalledMs = metadata['stalled_ms'];
    return category === 'runtime' && type === 'stalled' && typeof stalledMs === 'number' && stalledMs > 0
      ? [{ at: at - origin, stalledMs }]
      : [];
  });
}

/** Tells whether a call that ended so was ended by its caller. */
export function isCallers(kind: FailureKind): boolean {
  return kind === 'cancelled' || kind === 'watchdog';
}

/** Finds when the first thing happened, in wall time; `Infinity` where nothing did. */
export function firstAt({ integrations, sessions, events }: Incident): number {
  const names = new Set(sessions.map(({ name }) => name));
  const turns = events.filter(
    ({ type, metadata }) => type === 'turn_started' && names.has(textOf(metadata['session'])),
  );
  const rows = rowsIn(integrations).map((row) => ('arrivedAt' in row ? row.arrivedAt : row.at));
  return [...rows, ...turns.map(({ at }) => at)].reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
}
