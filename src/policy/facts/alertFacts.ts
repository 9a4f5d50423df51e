import type { FailureKind } from '../failures/failure.ts';

/** Counts for alerts: final failures of calls, and crashes of the integration's process, whatever became of its calls. */
export type AlertCount = 'failures' | 'crashes';

/** Cause of an alert: so many of one of these, a success rate that is too low, a circuit that refused calls or stayed open, a budget that is spent, or a tool that changed. */
export type AlertCause = AlertCount | 'rate' | 'circuit' | 'budget' | 'tool';

/** Why an alert was cleared: no failure and no crash for long enough, the circuit closed, or the success rate is high enough again. */
export type AlertEnd = 'quiet' | 'closed' | 'recovered';

/** Facts of alerts. */
export interface AlertFacts {
  /** So many final failures, or crashes, of one integration came within `windowMs`, or so few of its calls succeeded, or its circuit refused calls, or its budget is spent, or a tool changed, that somebody should look; once per episode. */
  'alert.raised': LocatedAlertFact & {
    /** `crashes`: it keeps crashing, whatever became of its calls. `rate`: too few of its calls succeed. `circuit`: its circuit refuses calls, or is open for longer than one reset time. `budget`: it has spent one. `tool`: one of its tools changed. */
    because: AlertCause;
    /** Final failures within `windowMs`. */
    failures: number;
    /** Losses of the integration's process, and failed restarts, within `windowMs`. */
    crashes: number;
    windowMs: number;
    /** Time without a failure and without a crash after which it is cleared. */
    quietMs: number;
    /** Kind of the last of them; with `rate`, of most; with `circuit`, of what opened it. */
    kind: FailureKind;
    /** Words of the last of them; with `rate`, what the rate is; with `circuit`, how far it refuses calls, and why. */
    message: string;
    /** The command to type next, for a shell; absent where the store is in memory: no command can look into that. */
    next?: string | undefined;
  };
  /** The episode is over: no failure, no crash and no call refused by an open circuit for the quiet time, the circuit closed, or the success rate is high enough again. */
  'alert.cleared': LocatedAlertFact & {
    by: AlertEnd;
    /** All final failures of the episode. */
    failures: number;
    /** All its crashes. */
    crashes: number;
    /** Time that it lasted. */
    afterMs: number;
    /** Trouble that remains, though nobody calls: `its circuit is open`. */
    remains?: string | undefined;
  };
  /** An alert did not reach where it was to go. While it is open, the next start sends it once more. */
  'alert.undelivered': AlertFact & { to: 'command' | 'webhook'; error: string };
  /** An open alert that an earlier run could not deliver has arrived. */
  'alert.delivered_late': AlertFact & { to: 'command' | 'webhook' };
}

/** Fields that the facts of one alert have in common. */
interface AlertFact {
  /** Name of each episode of an integration. */
  alert: string;
  integration: string;
}

/** Fields in which an alert and its all-clear say where they come from: what somebody who is woken has to know. */
interface LocatedAlertFact extends AlertFact {
  /** The machine. */
  host: string;
  pid: number;
  /** The gateway or proxy, as `unwedge status` names it. */
  gateway: string;
  /** Path of the file, or where the PostgreSQL database is, without who signs in; absent where the store is in memory. */
  database?: string | undefined;
}

/** Origin of an alert. */
export type AlertOrigin = Omit<LocatedAlertFact, keyof AlertFact>;
