import type { Facts } from '../policy/facts.ts';
import type { OrderNote } from '../policy/operatorOrder.ts';
import { checkName } from '../policy/options.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { knownNames } from './knownNames.ts';

/** Parts that can be restarted by name. */
interface Restartable {
  readonly root: Pick<Supervisor, 'has' | 'state' | 'restartChild'>;
  /** By name; those of hooks begin with `hook:`. */
  readonly paths: ReadonlyMap<string, RestartablePath>;
  readonly sessions: ReadonlyMap<string, RestartableSession>;
  /** Is told `operator.restarted`. */
  readonly facts: Pick<Facts, 'tell'>;
  /** Author of the order, and the reason. @defaultValue not said */
  readonly note?: OrderNote | undefined;
}

interface RestartablePath {
  readonly name: string;
  readonly stats: { readonly attempts: number };
  restart(): void;
}

interface RestartableSession {
  restarting(note: OrderNote): void;
  why(): { readonly calls: readonly unknown[] };
}

/**
 * Restarts an integration or a session by its name. An integration with a process gets a new one. Another integration has its calls ended
 * and its circuit closed. A session gets a new actor. Takes names as they were declared, an integration before a session before a hook, and
 * the names of the tree.
 * @throws TypeError for what is no name, RangeError that lists the known names when there is none of this one.
 */
export function restartNamed(given: string, { root, paths, sessions, facts, note }: Restartable): void {
  const name = checkName('name', given);
  const path = paths.get(name) ?? paths.get(name.replace(/^(?:mcp|integration):/, ''));
  const session = path === undefined ? [name, name.replace(/^session:/, '')].find((id) => sessions.has(id)) : undefined;
  const integration = path ?? (session === undefined ? paths.get(`hook:${name}`) : undefined);
  if (integration !== undefined) restartIntegration(integration, { root, facts, note });
  else if (session === undefined) {
    throw new RangeError(`No integration \`${name}\` and no session of that name; known: ${known(paths, sessions)}`);
  } else if (root.has(`session:${session}`)) {
    const found = sessions.get(session);
    const calls = found?.why().calls.length ?? 0;
    facts.tell({ type: 'operator.restarted', session, what: 'session', calls, ...note });
    found?.restarting(note ?? {});
    root.restartChild(`session:${session}`);
  }
  // A session is not a child before the start; there is nothing to restart then.
}

/** Told before it is done, so that what comes of it is on record behind its reason. */
function restartIntegration(
  path: RestartablePath,
  { root, facts, note }: Pick<Restartable, 'root' | 'facts' | 'note'>,
): void {
  const server = `mcp:${path.name}`;
  const what = root.has(server) ? 'server' : 'calls';
  facts.tell({ type: 'operator.restarted', integration: path.name, what, calls: path.stats.attempts, ...note });
  if (what === 'server') root.restartChild(server);
  else path.restart();
  // Its machine is a child too, and nobody else releases it.
  const machine = `integration:${path.name}`;
  if (root.state(machine) === 'quarantined') root.restartChild(machine);
}

function known(paths: Restartable['paths'], sessions: Restartable['sessions']): string {
  return knownNames([...paths.keys(), ...sessions.keys()].map((name) => name.replace(/^hook:/, '')));
}
