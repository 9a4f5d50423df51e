/** What is left after a gateway was killed again and again. */
export interface ChaosReport {
  readonly seed: number;
  readonly kills: number;
  readonly accepted: number;
  readonly redelivered: number;
  readonly poisoned: number;
  readonly lostCalls: number;
  readonly violations: readonly string[];
}

export function killGateway(options: {
  readonly times: number;
  readonly seed: number;
  readonly progress?: (kills: number, accepted: number) => void;
}): Promise<ChaosReport>;
