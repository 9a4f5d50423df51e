/** Kind of an integration, as records name it. */
export type IntegrationType =
  | 'function'
  | 'mcp'
  | 'subprocess'
  | 'http'
  | 'claude'
  | 'codex'
  | 'acp'
  | 'hook'
  | 'workflow'
  | 'alert';

/** Parts of an input that name things, and so may be told. */
export interface InputNames {
  /** Method of a request of HTTP or MCP. */
  readonly method?: string | undefined;
  /** The prompt that a request of MCP asks for. */
  readonly prompt?: string | undefined;
  /** The id of a request of JSON-RPC. */
  readonly requestId?: string | undefined;
  /** Owner of the protocol that a request to a model speaks. */
  readonly modelApi?: 'anthropic' | 'openai' | undefined;
}

/** Description of an integration in records, besides its name. */
export interface IntegrationAbout<I> {
  readonly type: IntegrationType;
  /** The provider of its model, where that is known: `anthropic`, `openai`. */
  readonly provider?: string | undefined;
  /** The model that an input asks for, where that is known. Must not throw. */
  readonly modelOf?: ((input: I) => string | undefined) | undefined;
  /** Tells what else of an input may be told, where that is known. Must not throw. */
  readonly namesOf?: ((input: I) => InputNames) | undefined;
  /** The server of an HTTP API. */
  readonly server?: { readonly host: string; readonly port: number } | undefined;
}
