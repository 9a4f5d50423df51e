import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The program of the installed package, for Node. */
export const copilotPath = fileURLToPath(new URL('node_modules/@github/copilot/npm-loader.js', import.meta.url));

/** Whether it is installed; `npm ci` in this directory does it. */
export const hasCopilot = existsSync(copilotPath);

/** All of its environment: nothing is asked but `baseUrl`. The key is long: Copilot masks it wherever it prints those letters. */
export function copilotEnv(home: string, baseUrl: string): Record<string, string> {
  const temporary = join(home, 'tmp');
  mkdirSync(temporary, { recursive: true });
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: temporary,
    COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
    COPILOT_PROVIDER_API_KEY: 'sk-fake-000000',
    COPILOT_MODEL: 'gpt-4o',
    COPILOT_OFFLINE: 'true',
  };
}

/** The words of a run that does not ask. */
export const copilotArgs = ['-p', 'do it', '--allow-all-tools', '--output-format', 'json'];
