import { chainOf } from './wrappers.ts';

/**
 * Programs whose exit codes mean more than that the command failed. `shell`: 128+n for what signal n ended. `timeout`: 124. `agent`: an agent of ours,
 * which ends so by itself.
 */
export type ExitTeller = 'shell' | 'timeout' | 'agent';

export const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish']);

/**
 * Those of a command that may tell something by its exit code, as far as its words are certain: of any other an exit code is its own.
 *
 * @example
 * exitTellers('timeout', ['5s', 'nice', 'sh', '-c', 'make']) // 'timeout', 'shell'
 */
export function exitTellers(command: string, args: readonly string[] = []): ReadonlySet<ExitTeller> {
  const tellers = new Set<ExitTeller>();
  for (const { name, args: rest } of chainOf(command, args)) {
    if (shells.has(name)) tellers.add('shell');
    if (name === 'timeout' && !keepsStatus(rest)) tellers.add('timeout');
  }
  return tellers;
}

/** It ends as the command did then, also after its limit. */
const keepsStatus = (words: readonly string[]): boolean =>
  words.slice(0, 8).some((word) => /^(?:--preserve-status|-[fv]*p[fpv]*)$/.test(word));
