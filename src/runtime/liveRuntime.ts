import { type DrainOrder, stoppingAt } from '../calls/draining.ts';
import { hostname, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { identify, type ProcessWorld } from '../actors/process/processIdentity.ts';
import { circuitOf } from '../calls/integration.ts';
import type { LiveSelf, LiveStatus } from '../control/answers.ts';
import type { ControlServer } from '../control/server.ts';
import type { Methods } from '../control/serveClient.ts';
import { socketPath } from '../control/socketPath.ts';
import { seeRuns } from './seeRuns.ts';
import type { CheckedGatewayOptions } from './runtimeOptions.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import { read } from '../policy/failures/errorChain.ts';
import { say } from '../policy/text/logger.ts';
import { checkName } from '../policy/options/options.ts';
import { isShared, takeOffDied } from './diedRuns.ts';
import type { LiveRun } from './keptSessions.ts';
import type { RegisteredPath, Runtime } from './runtime.ts';
import type { Session } from '../sessions/session.ts';
import { renewEveryMs, type RuntimeRow } from '../store/runtimes.ts';
import type { StoreOutage } from '../policy/records/storeOutage.ts';
import { messageOf } from '../policy/failures/thrown.ts';
import { lateModule } from '../actors/process/lateModule.ts';

const controlModules = lateModule(() =>
  Promise.all([import('../control/server.ts'), import('../control/staleSockets.ts')]),
);

/**
 * Presence of a runtime for commands of other processes: a row in its store, and a socket.
 * @param methods - what the socket answers.
 */
export function createLiveRuntime(
  runtime: Pick<Runtime, 'name' | 'clock' | 'bus' | 'statistics' | 'store' | 'lasting'>,
  { control, logger }: Pick<CheckedGatewayOptions, 'control' | 'logger'>,
  methods: Methods,
) {
  const { name, clock, bus, lasting, store: storeOf } = runtime;
  const id = crypto.randomUUID();
  const startedAt = Math.round(clock.wallNow());
  let stopped = false;
  let server: ControlServer | undefined;
  let timer: Timer | undefined;

  return {
    /** Opens the socket and enters the row. Never rejects: what cannot be opened is told, and the runtime goes on. */
    async start(): Promise<LiveRun> {
      const socket = control && !stopped ? await open() : undefined;
      const seenAt = clock.wallNow();
      // A store in memory lists nobody; its runtime starts without a look at the processes of the machine.
      const store = storeOf();
      const world = store?.persistent === false ? unseen : await seeRuns(clock, (await store?.runtimes.pids()) ?? []);
      if (stopped || world === unseen) return { id, world, seenAt };
      const { start: processStart } = identify(world, process.pid);
      const renewedAt = Math.round(clock.wallNow());
      const row = { id, pid: process.pid, processStart, startedAt, renewedAt, name, socket };
      renew(row);
      lasting.changed = () => enter(row);
      await takeOffDied(runtime, world);
      return { id, world, seenAt };
    },
    /** Takes both away, at once; the store must still be open. */
    stop(): void {
      // Others on the database have nothing else to know it by where it had no session.
      if (!stopped && isShared(storeOf()))
        bus.tell({ type: 'gateway.left', gateway: name, pid: process.pid, host: hostname() });
      stopped = true;
      clock.clearTimeout(timer);
      lasting.changed = () => undefined;
      server?.close();
      storeOf()?.runtimes.leave(id);
    },
  };

  /** Also puts the row back where the file was replaced, or another process took this one for dead. */
  function renew(row: RuntimeRow): void {
    enter(row);
    timer = clock.setTimeout(() => renew(row), renewEveryMs);
  }

  function enter(row: RuntimeRow): void {
    storeOf()?.runtimes.enter({ ...row, renewedAt: clock.wallNow(), calls: lasting.told });
  }

  /** The path of the open socket; undefined when there is none. */
  async function open(): Promise<string | undefined> {
    const found = socketPath(id, { env: process.env, tmp: tmpdir(), uid: process.getuid?.() });
    if (!found.ok) {
      unavailable(found.reason, found.fix);
      return undefined;
    }
    const { path } = found;
    // Loaded now: most runtimes have no socket.
    const loaded = await controlModules().catch((error: unknown) =>
      unavailable(messageOf(error), 'install unwedge again'),
    );
    if (loaded === undefined || stopped) return undefined;
    const [{ startControlServer }, { removeStaleSockets }] = loaded;
    // The row may be one that cannot be written: who finds the socket learns whose it is.
    const self = (): LiveSelf => ({ id, pid: process.pid, name, startedAt, database: storeOf()?.path });
    server = startControlServer({ path, methods: { ...methods, self }, clock });
    const listening = await server.ready;
    if (stopped) return undefined;
    if (!listening.ok) {
      unavailable(messageOf(listening.error), `see to ${dirname(path)}`);
      return undefined;
    }
    say(logger, 'debug', `Control socket: ${path}`);
    void removeStaleSockets(dirname(path));
    return path;
  }

  function unavailable(reason: string, fix: string): void {
    const lost = '`unwedge status --tree` and `unwedge restart` cannot reach this runtime';
    say(logger, 'warn', `No control socket: ${reason}; ${lost}. Fix: ${fix}.`);
    bus.tell({ type: 'control.unavailable', reason, fix });
  }
}

const unseen: ProcessWorld = { entries: [], boot: '', namespace: '' };

/** Gives what `status` answers for these integrations and sessions. */
export function liveStatus(
  paths: Iterable<RegisteredPath>,
  sessions: Iterable<Pick<Session, 'id' | 'state' | 'waiting'> & Partial<Pick<Session, 'heldElsewhere'>>>,
  clock: Clock,
  stop: Pick<DrainOrder, 'since' | 'until'> | undefined,
  outage: StoreOutage | undefined,
): LiveStatus {
  const now = clock.now();
  const integrations = [...paths].map((path) => {
    const { name, link, stats, rateWait, pendingLong, comeback, openTools, keptAnswers } = path;
    const circuit = circuitOf(link);
    return {
      integration: name,
      state: link.state,
      circuit,
      inFlight: stats.attempts,
      waiting: stats.waiting,
      ...(pendingLong > 0 && { pendingLong }),
      ...(stats.abandoned > 0 && { abandoned: stats.abandoned }),
      ...(keptAnswers !== undefined && { kept: keptAnswers }),
      ...(rateWait !== undefined && { rate: { ...rateWait, waitMs: Math.round(rateWait.waitMs) } }),
      ...(link.pausedUntil > now && { pausedForMs: Math.round(link.pausedUntil - now) }),
      ...(circuit === 'crashed' && comeback !== undefined && { comeback }),
      ...(circuit === 'open' && { probeInMs: Math.max(0, Math.round(link.openUntil - now)) }),
      ...(openTools.length > 0 && { tools: openTools }),
    };
  });
  return {
    integrations,
    sessions: Array.from(sessions, ({ id, state, waiting, heldElsewhere }) => {
      return { session: id, state, waiting, ...(heldElsewhere === true && { heldElsewhere }) };
    }),
    ...(outage !== undefined && { store: outage }),
    ...(stop !== undefined && { stopping: stoppingAt(stop, now) }),
  };
}

/** The name under this field of the params of a method. @throws TypeError or RangeError when there is none. */
export function nameIn(params: unknown, field = 'name'): string {
  return checkName(field, read(params, field));
}

/** The same where there may be none. @throws as {@link nameIn} */
export function optionalNameIn(params: unknown, field: string): string | undefined {
  return read(params, field) === undefined ? undefined : nameIn(params, field);
}
