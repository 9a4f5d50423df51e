import { withStderr } from '../../src/actors/mcp/face.ts';
import type { McpClientPipe } from '../wire/mcpClientPipe.ts';
import { type CallPath, restarted } from '../../src/calls/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import type { McpAnswer } from '../../src/protocol/mcp/face.ts';
import { cancelledLine } from '../wire/syntheticAnswer.ts';
import { notificationLine } from '../../src/protocol/face.ts';
import type { Announcements } from './announcements.ts';
import type { ControlRequests } from './controlRequests.ts';
import type { ClientCall } from './clientCall.ts';
import type { ClientCalls } from './clientCalls.ts';
import type { FromClient } from './fromClient.ts';
import { changedLists, changeLine, changeNotifications, replayHandshake } from './handshake.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { ServerRequests } from './serverRequests.ts';
import type { Wire } from './wire.ts';

interface Inheritance {
  readonly calls: ClientCalls;
  readonly controlRequests: ControlRequests;
  readonly requests: ServerRequests;
  readonly fromClient: FromClient;
  readonly announcements: Announcements;
  readonly path: Pick<CallPath<ClientCall, McpAnswer>, 'crashed' | 'restarted' | 'keptInputs'>;
  readonly pipe: () => Pick<McpClientPipe, 'isFull' | 'release'>;
  /** Told when what the server is owed may have changed. */
  readonly changed: () => void;
}

/** Steps that follow when one server goes and another comes. */
export class ServerReplacement {
  readonly #scope: ProxyScope;
  readonly #parts: Inheritance;

  constructor(scope: ProxyScope, parts: Inheritance) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** A process runs. @returns what it has to hear before it takes requests; undefined when that is nothing. */
  started(wire: Wire): Promise<void> | undefined {
    const { name, record, recorded, voice } = this.#scope;
    const { calls, fromClient, announcements, pipe } = this.#parts;
    announcements.started(wire.relay.pid);
    if (pipe().isFull) wire.relay.pauseOutput();
    // The client's own handshake is the first this server hears.
    if (calls.isInitializing && !record.established) return undefined;
    const greeting = replayHandshake(wire, record, (method, message) =>
      voice.say(`${name} refused ${method} after its restart: ${message}`),
    );
    if (greeting !== undefined) fromClient.serverGreeted();
    return greeting?.then((done) => {
      announcements.greeted(done);
      const why = recorded?.greeted(done);
      if (why !== undefined) calls.refuseNext(why);
    });
  }

  ready(wire: Wire): void {
    const { record } = this.#scope;
    const { controlRequests, fromClient, announcements, path } = this.#parts;
    this.#scope.isUp = true;
    announcements.ready();
    // Before the calls that wait, unless one of those is the handshake that has to come first.
    if (record.established) fromClient.serverReady();
    path.restarted();
    fromClient.serverReady();
    controlRequests.serverReady();
    if (record.established) void this.#compareLists(wire);
  }

  /** It is gone. @returns whether that was to be expected, and is no failure. */
  lost(why: FailureFacts, stderr: string, wire: Wire | undefined): boolean {
    const { name, outlet, record } = this.#scope;
    const { calls, controlRequests, requests, announcements, path, pipe } = this.#parts;
    // A proxy that stops has ended its calls before its server.
    const facts = why.reason === 'stopped' ? restarted(name) : why;
    const served = this.#scope.isUp && record.established;
    const isProbeDeath = controlRequests.isDiscovering && !record.established;
    const silent = calls.takeSilent();
    // A task that goes on is asked for again, and lost nothing.
    const isLost = (call: ClientCall): boolean =>
      call.question?.open === true || (call.task !== undefined && !calls.goesOn(call));
    const asked = wire === undefined ? [] : [...calls.all(), ...path.keptInputs];
    const inFlight = asked.filter(isLost);
    // Calls that found out have been given up by now; the server took them with it all the same.
    if (facts.reason === 'hang') inFlight.unshift(...silent);
    // It ended as it was to, and nobody lost anything by it.
    const isOver = inFlight.length === 0 && (facts.reason === 'connection_closed' || isProbeDeath);
    // Its way to speak was found out: the next one is spoken to otherwise.
    const isSwitch = !record.established && facts.reason === 'connection_closed' && facts.breaker === 'ignored';
    const isQuiet = isOver || isSwitch;
    const recordFailed = this.#failedRecord(facts);
    const told = isHopeless(facts, record.established) ? notStarted(name, facts) : facts;
    this.#scope.isUp = false;
    if (stderr !== '') this.#scope.lastStderr = stderr;
    wire?.seal(facts);
    announcements.lost(facts, isQuiet, served, stderr);
    // The last words of one that never worked are the cause, from the first end on.
    const isNew = !record.established && facts.reason === 'connection_lost' && !facts.message.includes('; stderr: ');
    calls.serverLost();
    path.crashed(isNew ? { ...facts, message: withStderr(facts.message, stderr) } : facts, isQuiet);
    if (told !== facts || recordFailed) calls.endWaiting(told);
    if (!isProbeDeath && !record.established) controlRequests.serverFailed(facts);
    wire?.lose(told);
    for (const id of requests.lost()) outlet.write(cancelledLine(id, 'The server that asked is gone'));
    announcements.callsLost(inFlight, facts);
    pipe().release('server');
    this.#parts.changed();
    return isProbeDeath || isSwitch;
  }

  /** The client was answered from the record, and no server confirms that. @returns whether nobody is to wait for another start. */
  #failedRecord(facts: FailureFacts): boolean {
    // A proxy that stops says nothing of its server.
    if (facts.reason === 'restarted') return false;
    const { isOver, refused } = this.#scope.recorded?.failed(facts) ?? { isOver: false, refused: undefined };
    if (refused !== undefined) this.#parts.calls.refuseNext(refused);
    return isOver;
  }

  async #compareLists(wire: Wire): Promise<void> {
    const { recorded, record } = this.#scope;
    const { controlRequests, announcements } = this.#parts;
    const changed = recorded?.isStanding === true ? await recorded.settle(wire) : await changedLists(wire, record);
    if (changed.length === 0 || this.#scope.wire !== wire) return;
    tellChanges(this.#scope, controlRequests, changed);
    announcements.listsChanged(changed);
  }
}

/** Tells the client that these lists are others than it has seen. */
export function tellChanges({ record, outlet }: ProxyScope, aside: ControlRequests, changed: readonly string[]): void {
  if (record.handshake !== undefined) {
    for (const method of changeNotifications(changed)) outlet.write(notificationLine(method));
    return;
  }
  // Without a handshake a client hears only of what it listens to.
  const heard = new Set<string>();
  for (const change of aside.listening(changed)) {
    outlet.write(changeLine(change));
    heard.add(change.method);
  }
  aside.owe(changed.filter((method) => !heard.has(method)));
}

/** Tells whether nothing but somebody who mends it helps: there is no such command, or no server at the address. */
function isHopeless({ kind, reason }: FailureFacts, isEstablished: boolean): boolean {
  return kind === 'spawn' || (reason === 'not_found' && !isEstablished);
}

/** Each request begins a start, but what stands in the way has to be mended first. */
function notStarted(name: string, facts: FailureFacts): FailureFacts {
  const message = `${name} cannot be started: ${facts.message}; once that is mended, the next request starts it`;
  return { ...facts, kind: 'unavailable', message, outcome: 'not_started', shouldRetry: false, cause: facts };
}
