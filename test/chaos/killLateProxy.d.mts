export interface LateProxyReport {
  readonly seed: number;
  /** Way to the server. */
  readonly by: 'url' | 'stdio';
  readonly proxies: number;
  readonly servers: number;
  /** Calls of the clients, and runs of the tool that began. */
  readonly calls: number;
  readonly begun: number;
  /** Answers that clients got, of them those of calls that were not made, and calls that were told that theirs is lost. */
  readonly answers: number;
  readonly late: number;
  readonly lost: number;
  readonly violations: readonly string[];
}

export function killLateProxy(options: {
  readonly times: number;
  readonly seed: number;
  readonly by: 'url' | 'stdio';
  readonly progress?: (done: number, served: number) => void;
}): Promise<LateProxyReport>;
