/** What clients saw of MCP servers that were harmed again and again. */
export interface McpChaosReport {
  readonly seed: number;
  readonly kills: number;
  readonly stops: number;
  /** Requests that were answered, in any way. */
  readonly requests: number;
  /** Of these: answered that the outcome is unknown. */
  readonly lost: number;
  /** Of these: answered with another failure. */
  readonly refused: number;
  /** Longest time from the death of a server to the answer of a request that was open then, in ms. */
  readonly slowestMs: number;
  readonly violations: readonly string[];
}

export function killMcp(options: {
  readonly times: number;
  readonly seed: number;
  readonly progress?: (done: number, served: number) => void;
}): Promise<McpChaosReport>;
