export interface InboxChaosReport {
  readonly seed: number;
  readonly kills: number;
  readonly stops: number;
  readonly messages: number;
  /** Rows of the inbox, and of them those that ended so. */
  readonly questions: number;
  readonly allowed: number;
  readonly declined: number;
  readonly expired: number;
  /** Answers that the command gave, and those that came too late. */
  readonly answers: number;
  readonly late: number;
  readonly violations: readonly string[];
}

export function killInbox(options: {
  readonly times: number;
  readonly seed: number;
  readonly progress?: (done: number, served: number) => void;
}): Promise<InboxChaosReport>;
