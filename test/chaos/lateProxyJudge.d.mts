/** What a client was told of a question, by a connection of its own. Times are wall times in ms. */
export interface Told {
  readonly connection: string;
  readonly question: string;
  readonly askedAt: number;
  readonly at: number;
  /** Name of the run that it is the answer of. */
  readonly run?: string;
  readonly late?: boolean;
  readonly kept?: boolean;
  /** The client's own limit passed, or its connection ended. */
  readonly gaveUp?: boolean;
  readonly outcome?: string;
}

/** A server was killed, of one connection, or of all; or the proxy of a connection. */
export interface Death {
  readonly at: number;
  readonly connection?: string | undefined;
  readonly proxy?: boolean;
}

export function judgeLate(seen: {
  readonly told: readonly Told[];
  readonly lines: readonly string[];
  readonly deaths: readonly Death[];
}): {
  readonly calls: number;
  readonly begun: number;
  readonly answers: number;
  readonly late: number;
  readonly lost: number;
  readonly violations: readonly string[];
};
