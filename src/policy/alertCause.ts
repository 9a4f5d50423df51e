/** Counts for alerts: final failures of calls, and crashes of the integration's process, whatever became of its calls. */
export type AlertCount = 'failures' | 'crashes';

/** Cause of an alert: so many of one of these, a success rate that is too low, or a circuit that refused calls or stayed open. */
export type AlertCause = AlertCount | 'rate' | 'circuit';

/** Why an alert was cleared: no failure and no crash for long enough, the circuit closed, or the success rate is high enough again. */
export type AlertEnd = 'quiet' | 'closed' | 'recovered';
