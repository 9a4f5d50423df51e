import type { Readable } from 'node:stream';
import { type CheckedGatewayOptions, type GatewayOptions, Registry, checkGatewayOptions } from '../src/runtime/face.ts';
import { alertText } from '../src/policy/records/face.ts';
import { type Logger, say } from '../src/policy/text/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { databasePath } from './databasePath.ts';
import type { Io } from './io.ts';
import { namedConfig } from './namedConfig.ts';
import { createOwnLogger } from './ownLogger.ts';
import { sanitize } from './sanitize.ts';
import { sayUnstored } from './startRegistry.ts';

/** Runtime of a proxy: it is started without its store, which would delay the first answer. */
export interface ProxyRuntime {
  readonly registry: Registry;
  readonly checked: CheckedGatewayOptions;
  /** Opens the store and begins to watch for alerts, with what is on record. Never rejects. */
  readonly openStore: () => Promise<void>;
}

/** Runtime of the command of a proxy, and what it says on stderr. */
export interface PreparedProxy extends ProxyRuntime {
  readonly storePath: string;
  readonly logger: Logger;
  readonly say: (line: string) => void;
}

/** Arguments that every proxy has, or may have. */
interface ProxyArgs {
  readonly config: string | undefined;
  readonly db: string | undefined;
  readonly inbox?: boolean | undefined;
}

/**
 * Prepares a proxy by its configuration and its command line.
 * @param besides - keys of the configuration that are read elsewhere.
 * @throws what {@link namedConfig} throws.
 */
export async function prepareProxy(
  { config: file, db, inbox = false }: ProxyArgs,
  io: Io,
  besides?: readonly string[],
): Promise<PreparedProxy> {
  // Many a client closes what it does not want to read; it still wants its server.
  io.leaveErrors?.();
  const say = (line: string): void => void io.stderr.write(`unwedge: ${sanitize(line)}\n`);
  const logger = createOwnLogger(say);
  const config = await namedConfig(file, io, besides);
  const storePath = databasePath(db ?? config.store, io.env);
  return {
    ...createProxyRuntime({
      ...config,
      ...(inbox && { inbox: config.inbox || true }),
      store: { path: storePath, required: false },
      logger,
    }),
    storePath,
    logger,
    say,
  };
}

/** There is one child, and nobody to be spared its restarts. */
const supervisor = { intensity: 1000 };
/** After how long a store that could not be loaded is tried again, in ms. */
const openAgainMs = 10_000;

/** @throws TypeError or RangeError that names the option and its value. */
export function createProxyRuntime(options: Omit<GatewayOptions, 'supervisor'>): ProxyRuntime {
  const checked = checkGatewayOptions({ ...options, supervisor });
  const registry = new Registry(checked, { retention: checked.retention ?? false });
  const { runtime } = registry;
  const { logger } = checked;

  for (const type of ['alert.raised', 'alert.cleared'] as const)
    runtime.bus.on(type, (fact) => say(logger, 'warn', alertText(fact)));

  const notify = typeof checked.inbox === 'object' ? checked.inbox.notify : undefined;
  if (notify !== undefined)
    void import('../src/alerts/tellQuestions.ts')
      .then(({ tellQuestions }) => tellQuestions(runtime, notify))
      .catch((error: unknown) => say(logger, 'warn', `Nobody is told of questions: ${messageOf(error)}`));

  let isUnstored = false;
  const prepared: ProxyRuntime = {
    registry,
    checked,
    async openStore() {
      try {
        await registry.openStore();
      } catch (error) {
        // It serves its client all the same, and has what is told meanwhile recorded once it can be.
        if (!isUnstored) sayUnstored(logger, error);
        isUnstored = true;
        runtime.clock.setTimeout(() => void prepared.openStore(), openAgainMs, { ref: false });
        return;
      }
      if (registry.stopped || checked.alerts === undefined) return;
      // Events that were told before it was open are on record only once they are written.
      await runtime.store()?.flush();
      // Loaded now: it delivers by commands, which no first answer waits for.
      try {
        const { superviseAlerts } = await import('../src/alerts/superviseAlerts.ts');
        if (!registry.stopped) await superviseAlerts(runtime, checked.alerts).start();
      } catch (error) {
        // Such as a server that has the name of what delivers them; it serves its client all the same.
        say(logger, 'warn', `Nobody watches for alerts: ${messageOf(error)}`);
      }
    },
  };
  return prepared;
}

/** Tells whether stdin has ended before anybody wrote to it. Of the bytes that were read, Bun and Deno keep no count. */
export const hasNoClient = ({ readableDidRead }: Pick<Readable, 'readableDidRead'>): boolean => !readableDidRead;
