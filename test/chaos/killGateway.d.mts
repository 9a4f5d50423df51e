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
  /** Where the gateway keeps its sessions, and how that is read when all is over. @defaultValue a new file */
  readonly store?: {
    readonly path: string;
    readonly kept: () => Promise<{ readonly messages: readonly object[]; readonly calls: readonly object[] }>;
  };
  readonly progress?: (kills: number, accepted: number) => void;
}): Promise<ChaosReport>;
