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

/** What records say of an integration besides its name. */
export interface IntegrationAbout<I> {
  readonly type: IntegrationType;
  /** The provider of its model, where that is known: `anthropic`, `openai`. */
  readonly provider?: string | undefined;
  /** The model that an input asks for, where that is known. Must not throw. */
  readonly modelOf?: ((input: I) => string | undefined) | undefined;
  /** The server of an HTTP API. */
  readonly server?: { readonly host: string; readonly port: number } | undefined;
}
