/** A JSON-RPC message. */
export interface JudgedMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export const answeredWithinMs: number;

export class McpJudge {
  /** @param now - time in ms. @defaultValue Date.now */
  constructor(name: string, now?: () => number);
  readonly violations: readonly string[];
  readonly answered: number;
  readonly lost: number;
  readonly refused: number;
  /** Longest time from the death of a server to the answer of a request that was open then, in ms. */
  readonly slowestMs: number;
  /** Requests that are owed an answer now. */
  readonly open: number;
  sent(message: JudgedMessage): void;
  received(message: JudgedMessage): void;
  serverDied(): void;
  disconnected(): void;
  wrong(what: string): void;
  finish(): void;
}
