import type { AlertCause, AlertEnd } from '../alertCause.ts';
import type { FailureKind } from '../failure.ts';

/** What is told of alerts. */
export interface AlertFacts {
  /** So many final failures, or crashes, of one integration came within `windowMs`, or so few of its calls succeeded, that somebody should look; once per episode. */
  'alert.raised': AlertFact & {
    /** `crashes`: it keeps crashing, whatever became of its calls. `rate`: too few of its calls succeed. */
    because: AlertCause;
    /** Final failures within `windowMs`. */
    failures: number;
    /** Losses of the integration's process, and failed restarts, within `windowMs`. */
    crashes: number;
    windowMs: number;
    /** Of the last of them; with `rate`, of most. */
    kind: FailureKind;
    /** What the last of them said; with `rate`, what the rate is. */
    message: string;
  };
  /** The episode is over: no failure and no crash for the quiet time, the circuit closed, or the success rate is high enough again. */
  'alert.cleared': AlertFact & {
    by: AlertEnd;
    /** All final failures of the episode. */
    failures: number;
    /** All its crashes. */
    crashes: number;
    /** How long it lasted. */
    afterMs: number;
  };
  /** An alert did not reach where it was to go; it is not tried again. */
  'alert.undelivered': AlertFact & { to: 'command' | 'webhook'; error: string };
}

/** What the facts of one alert have in common. */
export interface AlertFact {
  /** One for each episode of an integration. */
  alert: string;
  integration: string;
}
