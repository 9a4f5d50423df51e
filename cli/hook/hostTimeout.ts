import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

/** A larger file is not settings; in bytes. */
const mostBytes = 1_048_576;
/** The most that the host takes from a hook of SessionEnd, in ms; without its own `timeout` it gives all of them together 1.5 s. */
const sessionEndMs = 60_000;

/** The hook's command, as it was given to `unwedge hook`. */
interface WrappedHook {
  readonly command: string;
}

/** A hook of a settings file that may be this one. */
interface Entry {
  readonly event: string;
  /** Undefined where the host's default holds. */
  readonly timeoutMs: number | undefined;
}

/** Finds the time that the host waits for this hook, in ms, as far as its settings say; undefined where they do not. Never throws. */
export type HostTimeout = (event: string | undefined) => number | undefined;

/**
 * Reads the settings of Claude Code and of Codex for hooks that run this command through `unwedge hook`: the shortest `timeout` of those
 * counts, for a shell may have changed the words. Files that are not there or cannot be read say nothing.
 * @param ancestors - the processes above this one: one of them may have been given settings by `--settings`.
 */
export function readHostTimeout(
  hook: WrappedHook,
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
  ancestors = readAncestors,
): HostTimeout {
  let entries: readonly Entry[] | undefined;
  return (event) => {
    const forSessionEnd = Number(env['CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS']);
    if (event === 'SessionEnd' && forSessionEnd > 0) return forSessionEnd;
    entries ??= [...settingsFiles(env, cwd).map(readJson), ...givenSettings(ancestors, cwd)].flatMap((settings) =>
      entriesOf(settings, hook),
    );
    const timeouts = entries
      .filter((entry) => event === undefined || entry.event === event)
      .map(({ event: its, timeoutMs }) =>
        its === 'SessionEnd' && timeoutMs !== undefined ? Math.min(timeoutMs, sessionEndMs) : timeoutMs,
      )
      .filter((timeoutMs) => timeoutMs !== undefined);
    return timeouts.length === 0 ? undefined : Math.min(...timeouts);
  };
}

function settingsFiles(env: NodeJS.ProcessEnv, cwd: string): readonly string[] {
  const home = homeOf(env);
  const project = env['CLAUDE_PROJECT_DIR'] ?? cwd;
  const plugin = env['CLAUDE_PLUGIN_ROOT'];
  return [
    join(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'settings.json'),
    join(project, '.claude', 'settings.json'),
    join(project, '.claude', 'settings.local.json'),
    process.platform === 'darwin'
      ? '/Library/Application Support/ClaudeCode/managed-settings.json'
      : '/etc/claude-code/managed-settings.json',
    ...(plugin === undefined ? [] : [join(plugin, 'hooks', 'hooks.json')]),
    join(env['CODEX_HOME'] ?? join(home, '.codex'), 'hooks.json'),
    join(cwd, '.codex', 'hooks.json'),
  ];
}

function givenSettings(ancestors: typeof readAncestors, cwd: string): readonly unknown[] {
  return ancestors()
    .flatMap((ancestor) => settingsOption(ancestor, cwd))
    .map(({ json, path }) => (path === undefined ? parseJson(json ?? '') : readJson(path)));
}

function homeOf(env: NodeJS.ProcessEnv): string {
  if (env['HOME'] !== undefined) return env['HOME'];
  try {
    return homedir();
  } catch {
    return '/';
  }
}

function entriesOf(settings: unknown, hook: WrappedHook): readonly Entry[] {
  const hooks = recordOf(recordOf(settings)?.['hooks']) ?? {};
  return Object.entries(hooks).flatMap(([event, groups]) =>
    listOf(groups)
      .flatMap((group) => listOf(recordOf(group)?.['hooks']))
      .map(recordOf)
      .filter((entry) => entry !== undefined && isWrapped(entry, hook))
      .map((entry) => ({ event, timeoutMs: secondsOf(entry?.['timeout']) })),
  );
}

/** Told by the word `hook` and the name of the command: quotes and variables of a shell hide the rest. */
function isWrapped({ command, args }: Readonly<Record<string, unknown>>, hook: WrappedHook): boolean {
  const text = [command, ...listOf(args)].filter((word) => typeof word === 'string').join(' ');
  return /\bhook\b/.test(text) && text.includes(basename(hook.command));
}

function secondsOf(timeout: unknown): number | undefined {
  return typeof timeout === 'number' && timeout > 0 ? timeout * 1000 : undefined;
}

function readJson(path: string): unknown {
  try {
    return statSync(path).size > mostBytes ? undefined : JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

/** Between a hook and its host stand a shell and what runs it; a loop in what we read must end. */
const mostAncestors = 12;
/** Time that `ps` may take for one of them, in ms. */
const psMs = 300;

/** A process above this one. */
interface Ancestor {
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
function settingsOption({ words, cwd }: Ancestor, ownCwd: string): readonly { json?: string; path?: string }[] {
  const values = words.flatMap((word, index) => {
    if (word === '--settings') return words.slice(index + 1, index + 2);
    return word.startsWith('--settings=') ? [word.slice('--settings='.length)] : [];
  });
  return values.map((value) =>
    value.trimStart().startsWith('{') ? { json: value } : { path: resolve(cwd ?? ownCwd, value) },
  );
}
