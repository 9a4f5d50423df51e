import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The program of the installed package, for Node. */
export const geminiPath = fileURLToPath(new URL('node_modules/@google/gemini-cli/bundle/gemini.js', import.meta.url));

/** Whether it is installed; `npm ci` in this directory does it. */
export const hasGemini = existsSync(geminiPath);

/** Its settings in its home, and all of its environment: nothing is asked but `baseUrl`. */
export function geminiEnv(home: string, baseUrl: string): Record<string, string> {
  const temporary = join(home, 'tmp');
  for (const path of [temporary, join(home, '.gemini')]) mkdirSync(path, { recursive: true });
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false },
  };
  writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: temporary,
    GEMINI_API_KEY: 'x',
    GOOGLE_GEMINI_BASE_URL: baseUrl,
    GEMINI_CLI_NO_RELAUNCH: 'true',
  };
}

/** The words of a run that does not ask. */
export const geminiArgs = ['-p', 'do it', '-y', '--skip-trust', '-m', 'gemini-2.5-flash', '-o', 'stream-json'];
