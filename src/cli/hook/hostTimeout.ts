import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { readAncestors, settingsOption } from './settingsOption.ts';

/** A larger file is not settings; in bytes. */
const mostBytes = 1_048_576;
/** The most that the host takes from a hook of SessionEnd, in ms; without its own `timeout` it gives all of them together 1.5 s. */
const sessionEndMs = 60_000;

/** The hook's command, as it was given to `unwedge hook`. */
export interface WrappedHook {
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
