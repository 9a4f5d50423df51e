import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The native program of the installed package. */
export const goosePath = fileURLToPath(new URL('node_modules/@aaif/goose-binary-linux-x64/bin/goose', import.meta.url));

/** Whether it is installed; `npm ci` in this directory does it. */
export const hasGoose = existsSync(goosePath);

/** All of its environment: nothing is asked but `baseUrl`. */
export function gooseEnv(home: string, baseUrl: string): Record<string, string> {
  const temporary = join(home, 'tmp');
  mkdirSync(temporary, { recursive: true });
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: temporary,
    GOOSE_PROVIDER: 'openai',
    GOOSE_MODEL: 'gpt-4o',
    GOOSE_MODE: 'auto',
    GOOSE_DISABLE_KEYRING: '1',
    OPENAI_HOST: baseUrl,
    OPENAI_API_KEY: 'sk-fake-000000',
  };
}

/** The words of a run that does not ask. */
export const gooseArgs = [
  ...['run', '-q', '--no-session', '--with-builtin', 'developer', '-t', 'do it'],
  ...['--output-format', 'stream-json'],
];
