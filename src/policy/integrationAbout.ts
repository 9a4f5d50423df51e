/** What kind of thing an integration is, as records name it. */
export type IntegrationType =
  | 'function'
  | 'mcp'
  | 'subprocess'
  | 'http'
  | 'claude'
  | 'codex'
  | 'hook'
  | 'workflow'
  | 'alert';

/** What of an input names things, and so may be told. */
export interface InputNames {
  /** Of a request of HTTP or MCP. */
  readonly method?: string | undefined;
  /** The prompt that a request of MCP asks for. */
  readonly prompt?: string | undefined;
  /** The id of a request of JSON-RPC. */
  readonly requestId?: string | undefined;
  /** Of a request to a model: whose protocol it speaks. */
  readonly modelApi?: 'anthropic' | 'openai' | undefined;
}

/** What records say of an integration besides its name. */
export interface IntegrationAbout<I> {
  readonly type: IntegrationType;
  /** The provider of its model, where that is known: `anthropic`, `openai`. */
  readonly provider?: string | undefined;
  /** The model that an input asks for, where that is known. Must not throw. */
  readonly modelOf?: ((input: I) => string | undefined) | undefined;
  /** What else of an input may be told, where that is known. Must not throw. */
  readonly namesOf?: ((input: I) => InputNames) | undefined;
  /** The server of an HTTP API. */
  readonly server?: { readonly host: string; readonly port: number } | undefined;
}
