/** What raised an alert: final failures of calls, or crashes of the integration's process, whatever became of its calls. */
export type AlertCause = 'failures' | 'crashes';

/** Why an alert was cleared: no failure and no crash for long enough, or the circuit closed. */
export type AlertEnd = 'quiet' | 'closed';
