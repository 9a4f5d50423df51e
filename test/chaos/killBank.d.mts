/** What a client read of a bank that was killed again and again, held against the ledger of the bank. */
export interface BankChaosReport {
  readonly seed: number;
  /** Of servers, each with SIGKILL. */
  readonly kills: number;
  /** Payments that the client wanted; the ledger has `made` of them. */
  readonly wanted: number;
  readonly made: number;
  /** Answers of calls, as the client read them. */
  readonly answers: number;
  /** Of these: payments that were found, and answers that say only that it was done, that it was not, that nobody knows, or that it never began. */
  readonly found: number;
  readonly done: number;
  readonly notDone: number;
  readonly unknown: number;
  readonly notStarted: number;
  /** Longest time of a call, in ms. */
  readonly slowestMs: number;
  readonly violations: readonly string[];
}

export function killBank(options: {
  readonly times: number;
  readonly seed: number;
  /** How the proxy settles lost answers: by the rule, by repeating them unasked, or by a rule that finds nothing. @defaultValue 'rule' */
  readonly settles?: 'rule' | 'repeat' | 'blind' | undefined;
  readonly progress?: (done: number, served: number) => void;
}): Promise<BankChaosReport>;
