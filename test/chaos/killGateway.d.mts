/** What is left after a gateway was killed and stopped again and again. */
export interface ChaosReport {
  readonly seed: number;
  readonly kills: number;
  readonly stops: number;
  readonly accepted: number;
  readonly redelivered: number;
  /** Messages whose turn an orderly stop cut. */
  readonly putBack: number;
  readonly poisoned: number;
  readonly lostCalls: number;
  readonly violations: readonly string[];
}

export function killGateway(options: {
  readonly times: number;
  readonly seed: number;
  readonly progress?: (kills: number, accepted: number) => void;
}): Promise<ChaosReport>;
