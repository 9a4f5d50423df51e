/** What came of asking a claude that fails now and then. */
export interface SoakReport {
  readonly seed: number;
  readonly calls: number;
  readonly succeeded: number;
  readonly attempts: number;
  /** How often it failed in each of its ways. */
  readonly faults: Readonly<Record<string, number>>;
  /** In bytes. */
  readonly largestCommandLine: number;
  readonly failures: readonly string[];
  readonly violations: readonly string[];
}

export function askClaude(options: {
  readonly times: number;
  readonly seed: number;
  /** Of the runs, from 0 to 1. @defaultValue 0.05 */
  readonly faultRate?: number;
  /** Calls at once. @defaultValue 4 */
  readonly together?: number;
  /** Bytes of each prompt that do not arrive. @defaultValue 0 */
  readonly loses?: number;
  readonly progress?: (calls: number, succeeded: number) => void;
}): Promise<SoakReport>;
