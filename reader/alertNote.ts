import type { OpenAlert } from '../src/policy/records/face.ts';
import type { UnwatchedAlert } from './storeReader.ts';

/** Somebody looks after an alert, or has put it off. Times are wall time in ms since the epoch. */
export interface AlertNote {
  readonly is: 'acknowledged' | 'snoozed';
  readonly at: number;
  readonly by?: string | undefined;
  readonly why?: string | undefined;
  /** Time when an alert that was put off is told again. */
  readonly until?: number | undefined;
}

/** Tells whether nobody else is needed now. */
export function isPutAway(note: AlertNote | undefined, now: number): boolean {
  return note !== undefined && (note.until === undefined || note.until > now);
}

/** An alert with what was said of it last. @defaultValue of `note`: nothing */
export type Noted<T> = T & { readonly note?: AlertNote | undefined };

/** Alerts of a view with their notes. */
export interface NotedAlerts {
  readonly open: readonly Noted<OpenAlert>[];
  readonly unwatched: readonly Noted<UnwatchedAlert>[];
}
