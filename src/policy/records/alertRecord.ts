import type { AlertCause, AlertCount, AlertEnd } from '../facts/alertFacts.ts';
import type { Fact } from '../facts/facts.ts';
import type { FailureKind } from '../failures/failure.ts';

/** An alert that is not cleared. Times are wall time in ms since the epoch. */
export interface OpenAlert {
  readonly id: string;
  readonly integration: string;
  readonly because: AlertCause;
  /** Kind of the last failure or crash of the sort that raised it; with `rate`, of most of the failures. */
  readonly kind: FailureKind;
  readonly message: string;
  /** Final failures of the episode so far. */
  readonly failures: number;
  /** Crashes of the episode so far. */
  readonly crashes: number;
  readonly raisedAt: number;
  /** Time of the last failure or crash. */
  readonly lastFailureAt: number;
}

/** Words of a failure or crash. */
export type AlertWords = Pick<OpenAlert, 'kind' | 'message'>;

/** Counts of an episode. */
export type AlertCounts = Pick<OpenAlert, AlertCount>;

/** Outcome of an attempt to clear an alert. */
export type Cleared =
  /** It is: the runtime that asked tells its listeners. */
  | ({ readonly is: 'cleared' } & AlertCounts)
  /** Another runtime has cleared it. */
  | { readonly is: 'gone' }
  /** Another runtime has met a failure or crash since. */
  | { readonly is: 'failing'; readonly lastFailureAt: number };

/** Open alerts as all runtimes share them. Nothing here throws or rejects; what cannot be written now is written when it can be. */
export interface AlertRecords {
  /** Every open one; none while the store is out of order. */
  open(): Promise<readonly OpenAlert[]>;
  /**
   * The alert that is open for the integration after this one was offered: its own, or the one another runtime raised first. Undefined when the store cannot say.
   * @param fact - tells of it: recorded in the same transaction, if the alert is this one. Nothing of it is recorded when the store cannot say.
   */
  raise(alert: OpenAlert, fact?: Fact): Promise<OpenAlert | undefined>;
  /**
   * Counts one more failure or crash of the episode. The alert says its words from then on, where it is of the sort that raised it.
   * @returns whether an alert is open; undefined when the store cannot say.
   */
  extend(integration: string, cause: AlertCount, wallNow: number, said: AlertWords): Promise<boolean | undefined>;
  /**
   * Clears an alert, unless there was a failure or crash after `quietSince`.
   * @param quietSince - `Infinity`: whatever there was.
   * @param fact - tells of it: recorded in the same transaction, if it is cleared.
   * @returns undefined when the store cannot say; nothing is recorded of `fact` then.
   */
  clear(
    id: string,
    by: AlertEnd,
    wallNow: number,
    quietSince: number,
    fact?: (counts: AlertCounts) => Fact,
  ): Promise<Cleared | undefined>;
}
