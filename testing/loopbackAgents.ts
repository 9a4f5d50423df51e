import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A key that nobody takes, and a port on which nobody listens. */
const [key, dead] = ['sk-ant-fake-000000', 'http://127.0.0.1:9'];

/**
 * Makes a home in which Claude, Codex, Gemini, goose, opencode and Copilot, and whoever goes by `OPENAI_BASE_URL`, ask the model at `url` alone.
 * @returns its environment, but for the `PATH`.
 */
export function loopbackAgent(home: string, url: string): Readonly<Record<string, string>> {
  for (const folder of ['.gemini', '.codex']) mkdirSync(join(home, folder));
  const model = { name: 'm', tool_call: true, limit: { context: 100_000, output: 1000 } };
  const options = { baseURL: `${url}/v1`, apiKey: key };
  const fake = { npm: '@ai-sdk/openai-compatible', name: 'fake', options, models: { m: model } };
  const quiet = { autoupdate: false, share: 'disabled', snapshot: false, lsp: false };
  const opencode = { ...quiet, model: 'fake/m', small_model: 'fake/m', provider: { fake } };
  const gemini = { security: { auth: { selectedType: 'gemini-api-key' } }, general: { enableAutoUpdate: false } };
  writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify({ ...gemini, telemetry: { enabled: false } }));
  const codex = ['model = "fake-model"', 'model_provider = "fake"', '[analytics]', 'enabled = false'];
  const provider = ['[model_providers.fake]', 'name = "fake"', `base_url = "${url}/v1"`, 'env_key = "FAKE_KEY"'];
  writeFileSync(join(home, '.codex', 'config.toml'), [...codex, ...provider, 'wire_api = "responses"', ''].join('\n'));
  const folders = ['CONFIG', 'DATA', 'STATE', 'CACHE'].map((name) => [`XDG_${name}_HOME`, join(home, name)] as const);
  const apis = ['ANTHROPIC_API', 'OPENAI_API', 'GEMINI_API', 'COPILOT_PROVIDER_API', 'FAKE'];
  const keys = apis.map((name) => [`${name}_KEY`, key]);
  const on = ['DISABLE_TELEMETRY', 'DISABLE_AUTOUPDATER', 'GOOSE_DISABLE_KEYRING', 'OPENCODE_DISABLE_AUTOUPDATE'];
  const quieter = ['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', 'OPENCODE_DISABLE_MODELS_FETCH', 'COPILOT_OFFLINE'];
  return {
    ...Object.fromEntries([...folders, ...keys, ...[...on, ...quieter].map((name) => [name, 'true'])]),
    ...{ HOME: home, CODEX_HOME: join(home, '.codex'), GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'gpt-4o' },
    ...{ ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, OPENAI_HOST: url, GOOGLE_GEMINI_BASE_URL: url },
    OPENCODE_CONFIG_CONTENT: JSON.stringify(opencode),
    ...{ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_MODEL: 'gpt-4.1', GEMINI_CLI_NO_RELAUNCH: 'true' },
    // Whatever goes elsewhere finds nobody.
    ...{ HTTPS_PROXY: dead, HTTP_PROXY: dead, NO_PROXY: '127.0.0.1,localhost', npm_config_registry: dead },
  };
}
