import type { Supervisor } from './supervisor/supervisor.ts';

/** What can be restarted by name. */
export interface Restartable {
  readonly root: Pick<Supervisor, 'has' | 'restartChild'>;
  /** By name; those of hooks begin with `hook:`. */
  readonly paths: ReadonlyMap<string, { readonly name: string; reset(): void }>;
  readonly sessions: ReadonlyMap<string, unknown>;
}

const longestList = 20;

/**
 * Restarts what is behind a name: the process of an integration that has one, else its circuit; or the actor of a session.
 * Takes names as they were declared, an integration before a session before a hook, and those the tree shows.
 * @throws RangeError that lists the known names when there is none of this one.
 */
export function restartNamed(name: string, { root, paths, sessions }: Restartable): void {
  const path = paths.get(name) ?? paths.get(name.replace(/^(?:mcp|integration):/, ''));
  const session = [name, name.replace(/^session:/, '')].find((id) => sessions.has(id));
  const child = path === undefined ? `session:${session}` : `mcp:${path.name}`;
  if (root.has(child)) root.restartChild(child);
  else if (path !== undefined) path.reset();
  // A session is not a child before the start; there is nothing to restart then.
  else if (session === undefined) resetHook(name, paths, sessions);
}

function resetHook(name: string, paths: Restartable['paths'], sessions: Restartable['sessions']): void {
  const hook = paths.get(`hook:${name}`);
  if (hook === undefined) {
    throw new RangeError(`No integration \`${name}\` and no session of that name; known: ${known(paths, sessions)}`);
  }
  hook.reset();
}

function known(paths: Restartable['paths'], sessions: Restartable['sessions']): string {
  const names = new Set([...paths.keys(), ...sessions.keys()].map((name) => name.replace(/^hook:/, '')));
  if (names.size === 0) return 'none';
  const more = names.size > longestList ? ` and ${names.size - longestList} more` : '';
  return [...names].slice(0, longestList).join(', ') + more;
}
