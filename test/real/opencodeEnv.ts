import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The native program of the installed package; where its processor is a newer one, it runs as well. */
export const opencodePath = fileURLToPath(
  new URL('node_modules/opencode-linux-x64-baseline/bin/opencode', import.meta.url),
);

/** Whether it is installed; `npm ci` in this directory does it. */
export const hasOpencode = existsSync(opencodePath);

/** Its settings in its working directory, and all of its environment: nothing is asked but `baseUrl`. */
export function opencodeEnv(home: string, cwd: string, baseUrl: string): Record<string, string> {
  const model = { name: 'm', tool_call: true, limit: { context: 100_000, output: 1000 } };
  const options = { baseURL: `${baseUrl}/v1`, apiKey: 'x' };
  const fake = { npm: '@ai-sdk/openai-compatible', name: 'fake', options, models: { m: model } };
  const quiet = { autoupdate: false, share: 'disabled', snapshot: false, lsp: false };
  const settings = { ...quiet, provider: { fake }, permission: { '*': 'allow' }, small_model: 'fake/m' };
  writeFileSync(join(cwd, 'opencode.json'), JSON.stringify(settings));
  const temporary = join(home, 'tmp');
  mkdirSync(temporary, { recursive: true });
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: temporary,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    // It would install a plugin.
    npm_config_registry: 'http://127.0.0.1:9',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  };
}

/** The words of a run that does not ask. */
export const opencodeArgs = ['run', '--format', 'json', '--title', 't', '-m', 'fake/m', 'do it'];
