import type { Clock } from '../../src/policy/face.ts';
import { type Fact, type FactType, type Told, factTypes } from '../../src/policy/facts/face.ts';
import {
  type Given,
  type Key,
  anything,
  boolean,
  byName,
  callback,
  checkLogger,
  duration,
  integer,
  loggerKey,
  readOptions,
  section,
  text,
} from '../../src/policy/options/face.ts';
import { type Logger, say } from '../../src/policy/text/face.ts';
import { KnownSecrets, createFactRedactor, createRedactedLogger } from '../../src/redaction/face.ts';
import type { Store } from '../../src/store/face.ts';
import { type Bus, type Listener, createBus } from '../../src/telemetry/face.ts';
import { type BoundarySettings, checkBoundary, handlerKeys, type HandlerLimits } from './boundaryOptions.ts';
import { bounded } from './errorBoundary.ts';
import { callsInFlight } from './runningCall.ts';
import { type ServerProcess, watchServerProcess } from './serverProcess.ts';
import { isConnected, type McpServerLike, wrapTools } from './toolRegistration.ts';

/** An MCP server whose tools and process are looked after. */
export interface McpSupervision {
  /** Hears `mcp.tool_failed`, `call.late` and `host.uncaught`, and what befalls the store. */
  on<K extends FactType | '*'>(type: K, listener: Listener<K>): () => void;
  readonly stats: McpSupervisionStats;
  /** Takes the process's listeners off and closes the store. The tools stay wrapped. */
  stop(): Promise<void>;
}

/** Figures since the start. */
export interface McpSupervisionStats {
  /** Calls whose handler runs, in this process. */
  readonly inFlight: number;
  /** Answers that were errors. */
  readonly failed: number;
  /** Handlers that ended after they had been given up; what they came to was dropped. */
  readonly late: number;
  readonly uncaught: number;
}

const ownSupervisionKeys = {
  /** The name of the server in facts. @defaultValue 'mcp-server' */
  name: text({ default: 'mcp-server' }),
  /** Limits of one tool, where they differ. */
  tools: byName(section(handlerKeys), { given: {} as Readonly<Record<string, HandlerLimits>>, default: {} }),
  /** SQLite file for failed calls and errors nobody caught; the secrets in their input are taken out. @defaultValue none */
  store: text(),
  /**
   * Gets what the supervision has to say beyond its facts. Never the console: stdout is the protocol's.
   * `false` is silence. @defaultValue stderr, for warnings and errors of a process that is the server's; else none
   */
  logger: loggerKey,
  /**
   * Takes the process for the server's: it then goes on after an error that nobody caught, and ends when its stdin does or its stdout breaks. `false` for a
   * server inside something else, or over HTTP. @defaultValue true
   */
  ownsProcess: boolean({ default: true }),
  /** Errors nobody caught that the process goes through within `uncaughtPeriodMs`; one more ends it with 1. At least 0. @defaultValue 10 */
  mostUncaught: integer({ min: 0, default: 10 }),
  /** Time that an error counts against `mostUncaught`, in ms above 0. @defaultValue 60000 */
  uncaughtPeriodMs: duration({ default: 60_000 }),
  /** Once the client is gone: how long calls in flight may take to end, and then `onClose`, in ms above 0. @defaultValue 500 */
  closeMs: duration({ default: 500 }),
  /** The server's own clean-up when its client is gone; may return a promise. */
  onClose: callback<() => unknown>(),
  /** Source of time and timers. @defaultValue the system's */
  clock: anything as Key<Clock | undefined>,
};

const supervisionKeys = { ...handlerKeys, ...ownSupervisionKeys };

/** Options for `superviseMcpServer`. */
export interface McpSupervisionOptions extends HandlerLimits, Given<typeof ownSupervisionKeys> {}

/**
 * Looks after an MCP server (`McpServer` of either official SDK): every tool, registered before or later, is wrapped as by
 * `withErrorBoundary`, and the process goes on after an error that nobody caught: it is recorded, and answers the call it came from,
 * or all that are in flight where that cannot be told. An error before the server is connected still ends its start. When its client
 * is gone, the process ends.
 *
 * Experimental task tools, prompts and resources are left as they are.
 * @throws TypeError or RangeError that names the wrong option, or when the server is none or was wrapped before.
 *
 * @example
 * const server = new McpServer({ name: 'kb', version: '1.0.0' });
 * superviseMcpServer(server, { name: 'kb', store: 'kb.sqlite' });
 * server.registerTool('search', { inputSchema }, ({ query }) => find(query));
 * await server.connect(new StdioServerTransport());
 */
export function superviseMcpServer(server: McpServerLike, options: McpSupervisionOptions = {}): McpSupervision {
  const read = readOptions('', options, supervisionKeys);
  const { name, store: path, onClose, idleMs, overallMs, ownsProcess, closeMs, clock: givenClock } = read;
  const logger = options.logger === false ? undefined : (checkLogger(options.logger) ?? stderrLogger);
  const uncaught = { most: read.mostUncaught, periodMs: read.uncaughtPeriodMs };
  const base = checkBoundary({ idleMs, overallMs, server: name, clock: givenClock });
  const ofTools = new Map(Object.entries(read.tools).map(([tool, limits]) => [tool, { ...base, ...limits }]));

  const { clock } = base;
  let failed = 0;
  let late = 0;
  const tell: BoundarySettings['tell'] = (fact) => {
    if (fact.type === 'mcp.tool_failed') failed += 1;
    if (fact.type === 'call.late') late += 1;
    bus.tell(fact);
  };
  // First: what is no server is refused before a store is opened for it.
  wrapTools(server, (tool, handler) => bounded(handler, { ...(ofTools.get(tool) ?? base), tool, tell }));
  const records = createServerRecords(clock, logger === stderrLogger && !ownsProcess ? undefined : logger, path);
  const { bus } = records;

  const watched: ServerProcess | undefined = ownsProcess
    ? watchServerProcess({
        clock,
        bus,
        uncaught,
        isServing: () => isConnected(server),
        say: (line) => say(logger, 'error', line),
        closeMs,
        onClose,
        flush: () => records.flush(),
      })
    : undefined;
  return {
    on: bus.on,
    get stats() {
      return { inFlight: callsInFlight().length, failed, late, uncaught: watched?.uncaught ?? 0 };
    },
    async stop() {
      watched?.release();
      await records.close();
    },
  };
}

/** Logger to where people look for what a server over stdio has to say. */
const stderrLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (line) => void process.stderr.write(`${line}\n`),
  error: (line) => void process.stderr.write(`${line}\n`),
};

/** Place where a server tells its facts, and keeps those that stores keep. */
interface ServerRecords {
  readonly bus: Bus;
  /** Resolves to whether all that was told is where it was asked to be. */
  flush(): Promise<boolean>;
  close(): Promise<void>;
}

/** Facts told while the store opens; what is told beyond is not kept. */
const maxEarly = 1000;

/** @param path - of the store; nothing is kept without one. */
export function createServerRecords(clock: Clock, logger: Logger | undefined, path: string | undefined): ServerRecords {
  const secrets = new KnownSecrets(process.env);
  const redact = createFactRedactor(secrets);
  const quiet = logger === undefined ? undefined : createRedactedLogger(logger, redact);
  const bus = createBus({ clock, logger: quiet, redact, types: factTypes });
  if (path === undefined) {
    return { bus, flush: () => Promise.resolve(true), close: () => Promise.resolve(bus.close()) };
  }
  const early: Told<Fact>[] = [];
  let store: Store | undefined;
  bus.on('*', (fact) => {
    if (store !== undefined) store.record(fact);
    else if (early.length < maxEarly) early.push(fact);
  });
  // Imported now: a server that keeps nothing is spared the loading, and nobody waits for it.
  const opening = import('../../src/store/openStore.ts').then(async ({ openStore }) => {
    store = await openStore({ path, clock, facts: bus, logger: quiet, secrets });
    // Masked as they were told: more secrets are known by now, and callers may have changed what they gave.
    for (const fact of early.splice(0)) store.record(redact(fact));
    return store;
  });
  return {
    bus,
    // At once where it can be: after an error that ends the process there is no later.
    flush: async () => (store ?? (await opening)).flush(),
    async close() {
      const opened = await opening;
      await opened.close();
      bus.close();
    },
  };
}
