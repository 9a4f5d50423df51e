export interface LateChaosReport {
  readonly seed: number;
  readonly gateways: number;
  readonly servers: number;
  readonly messages: number;
  /** Runs of the tool that began. */
  readonly begun: number;
  /** Answers that sessions got, of them those of calls that were not made, and calls that were told that theirs is lost. */
  readonly answers: number;
  readonly late: number;
  readonly lost: number;
  readonly violations: readonly string[];
}

export function killLate(options: {
  readonly times: number;
  readonly seed: number;
  readonly progress?: (done: number, served: number) => void;
}): Promise<LateChaosReport>;
