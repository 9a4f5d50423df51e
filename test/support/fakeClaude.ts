import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory, wholeLines } from './temporary.ts';

/** What one run of the fake does; `error` and `status` as its API would give them. */
export interface FakeRun {
  readonly text?: string;
  readonly status?: number;
  readonly error?: string;
  readonly terminal?: string;
  readonly exit?: number;
  readonly stderr?: string;
  /** It prints nothing on stdout. */
  readonly silent?: boolean;
  /** Tools it runs first; told in `stream-json` only. */
  readonly tools?: readonly string[];
  readonly hang?: boolean;
  /** It does not end by SIGTERM. */
  readonly stubborn?: boolean;
  readonly kill?: 'SIGKILL' | 'SIGTERM';
}

/** One run as it was started. */
export interface SeenRun {
  readonly args: readonly string[];
  readonly stdin: string;
  readonly retries?: string;
  /** Whether no earlier run was alive. */
  readonly alone: boolean;
  readonly pid: number;
}

export interface FakeClaude {
  readonly command: string;
  /** Come before all others. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  runs(): readonly SeenRun[];
}

/** The last run is played again and again. */
export function fakeClaude(...script: readonly FakeRun[]): FakeClaude {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'script.json'), JSON.stringify(script));
  const file = join(directory, 'runs.jsonl');
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL('../fixtures/claude.mjs', import.meta.url))],
    env: { FAKE_CLAUDE: directory },
    directory,
    runs: () => wholeLines(file).map((line) => JSON.parse(line) as SeenRun),
  };
}

export const rateLimited: FakeRun = { status: 429, error: 'API Error: Request rejected (429) · slow down' };
export const overloaded: FakeRun = { status: 529, error: 'API Error: 529 Overloaded. This is a server-side issue' };
export const badKey: FakeRun = { status: 401, error: 'Invalid API key · Fix external API key' };
