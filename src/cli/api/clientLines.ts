/** How a client is told where the proxy is. */
export interface ClientLine {
  readonly client: string;
  /** What to set, word for word. */
  readonly set: string;
}

/** What to set in each client, for one that listens at `origin`. Codex's own provider would try a WebSocket first. */
export function clientLines(origin: string): readonly ClientLine[] {
  return [
    { client: 'Claude Code', set: `ANTHROPIC_BASE_URL=${origin} claude` },
    { client: 'Codex', set: `codex -c openai_base_url='"${origin}/v1"'` },
    {
      client: 'Codex, in config.toml',
      set: [
        'model_provider = "unwedge"',
        '[model_providers.unwedge]',
        'name = "unwedge"',
        `base_url = "${origin}/v1"`,
        'wire_api = "responses"',
        'env_key = "OPENAI_API_KEY"',
        'supports_websockets = false',
      ].join('\n'),
    },
    { client: 'Anthropic SDK', set: `new Anthropic({ baseURL: '${origin}' })` },
    { client: 'OpenAI SDK, AI SDK', set: `new OpenAI({ baseURL: '${origin}/v1' })` },
  ];
}
