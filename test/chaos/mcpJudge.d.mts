/** A JSON-RPC message. */
export interface JudgedMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export class McpJudge {
  constructor(name: string);
  readonly violations: readonly string[];
  readonly answered: number;
  readonly lost: number;
  readonly refused: number;
  /** Requests that are owed an answer now. */
  readonly open: number;
  sent(message: JudgedMessage): void;
  received(message: JudgedMessage): void;
  disconnected(): void;
  wrong(what: string): void;
  finish(): void;
}
