import type { Methods } from '../control/serveClient.ts';
import type { Facts } from '../policy/facts/facts.ts';
import { noteIn, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { checkName } from '../policy/options/options.ts';
import type { FactRedactor } from '../redaction/redactFact.ts';
import type { SupervisedSession } from '../sessions/supervisedSession.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { knownNames } from './knownNames.ts';
import { nameIn, optionalNameIn } from './liveRuntime.ts';
import type { PathRole, RegisteredPath } from './runtime.ts';

/** Parts that orders by name are about. Each order is told before it is carried out, so that what comes of it is on record behind its reason. */
interface Ordered {
  readonly root: Pick<Supervisor, 'has' | 'state' | 'restartChild'>;
  /** By name; those of hooks begin with `hook:`. */
  readonly paths: ReadonlyMap<string, OrderedPath>;
  readonly sessions: ReadonlyMap<string, OrderedSession>;
  readonly facts: Pick<Facts, 'tell'>;
}

interface OrderedPath extends Pick<PathRole, 'onRestart'> {
  readonly path: Pick<RegisteredPath, 'name' | 'stats' | 'restart' | 'isolate' | 'reset' | 'probe'>;
}

interface OrderedSession {
  restarting(note: OrderNote): void;
  why(): { readonly calls: readonly unknown[] };
}

/**
 * Holds the circuit of an integration open, until it is reset.
 * @throws TypeError for what is no name, RangeError that lists the known names when there is none of this one.
 */
export function isolateNamed(given: string, note: OrderNote, { paths, facts }: Ordered): void {
  const path = pathOf(given, paths);
  facts.tell({ type: 'operator.isolated', integration: path.name, ...note });
  path.isolate();
}

/** Closes the circuit of an integration, whoever holds it open. @throws as {@link isolateNamed} */
export function resetNamed(given: string, note: OrderNote, { paths, facts }: Ordered): void {
  const path = pathOf(given, paths);
  facts.tell({ type: 'operator.reset', integration: path.name, ...note });
  path.reset();
}

/** Has an open circuit, or a server that asked not to be called, probed now. @throws as {@link isolateNamed} */
export function probeNamed(given: string, note: OrderNote, { paths }: Ordered): OrderResult {
  return pathOf(given, paths).probe(note);
}

/**
 * Restarts an integration or a session by its name. An integration with a process gets a new one. Another integration has its calls ended
 * and its circuit closed. A session gets a new actor. Takes names as they were declared, an integration before a session before a hook, and
 * the names of the tree. @throws as {@link isolateNamed}
 */
export function restartNamed(given: string, note: OrderNote, ordered: Ordered): void {
  const { root, paths, sessions, facts } = ordered;
  const name = checkName('name', given);
  const path = paths.get(name) ?? paths.get(name.replace(/^(?:mcp|integration):/, ''));
  const session = path === undefined ? [name, name.replace(/^session:/, '')].find((id) => sessions.has(id)) : undefined;
  const integration = path ?? (session === undefined ? paths.get(`hook:${name}`) : undefined);
  if (integration !== undefined) restartIntegration(integration, note, ordered);
  else if (session === undefined) {
    const known = knownAs([...paths.keys(), ...sessions.keys()]);
    throw new RangeError(`No integration \`${name}\` and no session of that name; known: ${known}`);
  } else if (root.has(`session:${session}`)) {
    const found = sessions.get(session);
    const calls = found?.why().calls.length ?? 0;
    facts.tell({ type: 'operator.restarted', session, what: 'session', calls, ...note });
    found?.restarting(note);
    root.restartChild(`session:${session}`);
  }
  // A session is not a child before the start; there is nothing to restart then.
}

/**
 * Makes the methods of the control socket about a session: `name` is its id, `target` what of it is meant, as its why shows it. Each answers with an
 * `OrderResult`, without secrets.
 */
export function sessionMethods(sessionOf: (id: string) => SupervisedSession, redact: FactRedactor): Methods {
  const about =
    (order: (session: SupervisedSession, params: unknown) => OrderResult | Promise<OrderResult>) =>
    async (params: unknown): Promise<OrderResult> =>
      redact(await order(sessionOf(nameIn(params)), params));
  return {
    fire: about((session, params) => session.fire(nameIn(params, 'target'), noteIn(params))),
    stop_retrying: about((session, params) => session.stopRetrying(nameIn(params, 'target'), noteIn(params))),
    cancel: about((session, params) => session.cancel(optionalNameIn(params, 'target'), noteIn(params))),
    hold: about((session, params) => session.repetition('hold', nameIn(params, 'target'), noteIn(params))),
    let_go_on: about((session, params) => session.repetition('let_go_on', nameIn(params, 'target'), noteIn(params))),
    send_again: about((session, params) => session.sendAgain(nameIn(params, 'target'), noteIn(params))),
    drop: about((session, params) => session.drop(nameIn(params, 'target'), noteIn(params))),
  };
}

function restartIntegration({ path, onRestart }: OrderedPath, note: OrderNote, { root, facts }: Ordered): void {
  const server = `mcp:${path.name}`;
  const what = root.has(server) ? 'server' : 'calls';
  facts.tell({ type: 'operator.restarted', integration: path.name, what, calls: path.stats.attempts, ...note });
  if (what === 'server') root.restartChild(server);
  else {
    path.restart();
    onRestart?.();
  }
  // Its machine is a child too, and nobody else releases it.
  const machine = `integration:${path.name}`;
  if (root.state(machine) === 'quarantined') root.restartChild(machine);
}

function pathOf(given: string, paths: Ordered['paths']): OrderedPath['path'] {
  const found = paths.get(checkName('name', given)) ?? paths.get(`hook:${given}`);
  if (found !== undefined) return found.path;
  throw new RangeError(`No integration \`${given}\`; known: ${knownAs([...paths.keys()])}`);
}

function knownAs(names: readonly string[]): string {
  return knownNames(names.map((name) => name.replace(/^hook:/, '')));
}
