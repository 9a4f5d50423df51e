import { type ChildProcessWithoutNullStreams, spawn as spawnChild } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { openReader } from '../../reader/openReader.ts';
import { moment } from '../support/moment.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const fixture = fileURLToPath(new URL('../fixtures/hook.mjs', import.meta.url));

/** Deeds of the fixture for which a shell is enough: Node takes fifty times as long to start. */
const inShell: Readonly<Record<string, string>> = {
  block: 'printf %s "$1" >&2; exit 2',
  print: 'printf %s "$1"',
  exit: 'printf "it went wrong" >&2; exit "$1"',
  crash: `printf '{"decision":"approve"}'; echo about to crash >&2; kill -KILL $$`,
};

/** A fixture as the command of a hook. */
export function program(deed: string, ...args: string[]): string[] {
  const script = inShell[deed];
  return script === undefined ? [process.execPath, fixture, deed, ...args] : ['sh', '-c', script, 'hook.sh', ...args];
}

/** What a host writes to a hook. */
export const request = (event: string): string =>
  JSON.stringify({ hook_event_name: event, session_id: 's1', tool_name: 'Bash', tool_input: { command: 'ls' } });

/** Pids of processes that have `variable`, as `NAME=value`, in their environment. */
export function processesWith(variable: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(variable));
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

/**
 * The wrapper with a database of its own.
 * @param hostTimeout - how long its host waits unless the words say so: the database gets a part of that, and on a busy machine the shortest wait
 * of a host leaves it none. Null: as its settings say.
 */
export function startHook(hostTimeout: string | null = '1m') {
  const directory = temporaryDirectory();
  const db = join(directory, 'hook.sqlite');
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory, UNWEDGE_DB: db };
  const hookWords = (words: readonly string[]): readonly string[] => {
    const isSaid = hostTimeout === null || words.some((word) => word.startsWith('--host-timeout'));
    return ['hook', ...(isSaid ? [] : ['--host-timeout', hostTimeout]), ...words];
  };
  const spawn = (words: readonly string[]) =>
    execa(process.execPath, [main, ...hookWords(words)], {
      env,
      extendEnv: false,
      reject: false,
      stripFinalNewline: false,
      encoding: 'buffer',
      maxBuffer: 64 * 1024 * 1024,
    });
  return {
    directory,
    db,
    spawn,
    /** Starts it with streams that nobody reads yet; `input` is closed. */
    start(words: readonly string[]): ChildProcessWithoutNullStreams {
      const child = spawnChild(process.execPath, [main, ...hookWords(words)], { env });
      child.stdin.end();
      return child;
    },
    /** Resolves when no process has this database in its environment: one that was killed takes a moment to be gone. */
    async noneLeft(): Promise<void> {
      while (processesWith(`UNWEDGE_DB=${db}`).length > 0) await moment();
    },
    /** Runs it to its end; `input` is written and closed. */
    async run(words: readonly string[], input: string | Uint8Array = '') {
      const child = spawn(words);
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
      const { exitCode, signal, stdout, stderr } = await child;
      return {
        code: exitCode,
        signal,
        stdout: Buffer.from(stdout).toString('utf8'),
        stderr: Buffer.from(stderr).toString('utf8'),
      };
    },
    /** What is on record, as `category/type` with the fields. */
    async events() {
      const reader = await openReader(db);
      try {
        return (await reader.events({ limit: 100 })).map(({ category, type, metadata }) => ({
          event: `${category}/${type}`,
          ...metadata,
        }));
      } finally {
        reader.close();
      }
    },
  };
}
