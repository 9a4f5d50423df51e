import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

/** The native program of the installed package. */
export const claudePath = fileURLToPath(
  new URL(`node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`, import.meta.url),
);

/** Whether it is installed; `npm ci` in this directory does it. */
export const hasClaude = existsSync(claudePath);

/** All of its environment: its home and temporary files in a directory of the test's own, nothing asked but `baseUrl`. */
export function claudeEnv(
  home: string,
  baseUrl: string,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const temporary = join(home, 'tmp');
  mkdirSync(temporary, { recursive: true });
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: temporary,
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: 'sk-ant-fake-000',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    ...extra,
  };
}
