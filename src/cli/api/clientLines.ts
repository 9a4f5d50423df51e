/** Line that tells a client the address of the proxy. */
export interface ClientLine {
  readonly client: string;
  /** Setting to make, word for word. */
  readonly set: string;
}

/** Lists the settings for each client that an upstream is for, for a proxy that listens at `origin`; for all of them where it is not known. */
export function clientLines(origin: string, upstream: string): readonly ClientLine[] {
  const host = new URL(upstream).hostname;
  const [messages, responses] = [ofMessages(origin), ofResponses(origin)];
  if (isOf('anthropic.com', host)) return messages;
  return isOf('openai.com', host) ? responses : [...messages, ...responses];
}

function isOf(domain: string, host: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function ofMessages(origin: string): readonly ClientLine[] {
  return [
    { client: 'Claude Code', set: `ANTHROPIC_BASE_URL=${origin} claude` },
    { client: 'Anthropic SDK', set: `new Anthropic({ baseURL: '${origin}' })` },
  ];
}

/** Codex's own provider would try a WebSocket first. */
function ofResponses(origin: string): readonly ClientLine[] {
  return [
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
    { client: 'OpenAI SDK, AI SDK', set: `new OpenAI({ baseURL: '${origin}/v1' })` },
  ];
}
