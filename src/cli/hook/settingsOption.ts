import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';

/** Between a hook and its host stand a shell and what runs it; a loop in what we read must end. */
const mostAncestors = 12;
/** Time that `ps` may take for one of them, in ms. */
const psMs = 300;

/** A process above this one. */
export interface Ancestor {
  readonly words: readonly string[];
  /** Undefined where it cannot be read. */
  readonly cwd: string | undefined;
}

/** The processes above this one, as far as they can be read: the nearest first. Never throws. */
export function readAncestors(parent = process.ppid): readonly Ancestor[] {
  const found: Ancestor[] = [];
  let pid = parent;
  try {
    while (pid > 1 && found.length < mostAncestors) {
      const { above, ...ancestor } = process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
      found.push(ancestor);
      pid = above;
    }
  } catch {
    // It is gone, belongs to somebody else, or the system tells nothing.
  }
  return found;
}

type Read = Ancestor & { readonly above: number };

function fromProc(pid: number): Read {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { words, cwd: cwdOf(pid), above: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0) };
}

function cwdOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** `ps` puts spaces between words: JSON ends where its last brace is, a path at its first space. */
function fromPs(pid: number): Read {
  if (process.platform === 'win32') throw new Error('No ps');
  const options: ExecFileSyncOptionsWithStringEncoding = {
    encoding: 'utf8',
    timeout: psMs,
    stdio: ['ignore', 'pipe', 'ignore'],
  };
  const line = execFileSync('ps', ['-ww', '-o', 'ppid=,command=', '-p', String(pid)], options);
  const [, above = '0', command = ''] = /^\s*(\d+)\s+([^\n]*)/.exec(line) ?? [];
  const value = /\s--settings[\s=](\{.*\}|\S+)/.exec(command)?.[1];
  return { words: value === undefined ? [] : ['--settings', value], cwd: undefined, above: Number(above) };
}

/** Finds the settings in a command line: the JSON itself, or the path of its file. */
export function settingsOption({ words, cwd }: Ancestor, ownCwd: string): readonly { json?: string; path?: string }[] {
  const values = words.flatMap((word, index) => {
    if (word === '--settings') return words.slice(index + 1, index + 2);
    return word.startsWith('--settings=') ? [word.slice('--settings='.length)] : [];
  });
  return values.map((value) =>
    value.trimStart().startsWith('{') ? { json: value } : { path: resolve(cwd ?? ownCwd, value) },
  );
}
