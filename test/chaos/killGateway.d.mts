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

/** Where a gateway keeps its sessions, and how that is read when all is over. */
export interface KeptWhere {
  readonly path: string;
  readonly kept: () => Promise<{ readonly messages: readonly object[]; readonly calls: readonly object[] }>;
}

export function killGateway(options: {
  readonly times: number;
  readonly seed: number;
  /** @defaultValue a new file */
  readonly store?: KeptWhere;
  /** Where the file is moved after half of the ends. @defaultValue it is not */
  readonly movesTo?: KeptWhere;
  readonly progress?: (kills: number, accepted: number) => void;
}): Promise<ChaosReport>;
