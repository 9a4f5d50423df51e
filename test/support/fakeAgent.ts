import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory, wholeLines } from './temporary.ts';

interface Started {
  readonly pid: number;
  readonly args: readonly string[];
  readonly retries?: string;
}

/** What a fake `claude` that keeps a conversation noted: its starts and the prompts it was given. */
export interface FakeAgent {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  starts(): readonly Started[];
  /** Long ones by their length. */
  prompts(): readonly (string | number)[];
  /** Whether it was asked to end a turn. */
  interrupted(): boolean;
}

export function fakeAgent(env: Readonly<Record<string, string>> = {}): FakeAgent {
  const directory = temporaryDirectory();
  const file = join(directory, 'notes.jsonl');
  const notes = (): readonly (Partial<Started> & {
    readonly prompt?: string | number;
    readonly interrupted?: true;
  })[] => wholeLines(file).map((line) => JSON.parse(line) as Partial<Started>);
  return {
    command: fileURLToPath(new URL('../fixtures/claudeAgent.mjs', import.meta.url)),
    env: { FAKE_AGENT: file, ...env },
    directory,
    starts: () => notes().filter((each): each is Started => 'pid' in each),
    prompts: () => notes().flatMap(({ prompt }) => (prompt === undefined ? [] : [prompt])),
    interrupted: () => notes().some(({ interrupted }) => interrupted === true),
  };
}
