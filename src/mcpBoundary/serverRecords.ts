import type { Clock } from '../policy/clock.ts';
import type { Fact, Told } from '../policy/facts.ts';
import { factTypes } from '../policy/factTypes.ts';
import type { Logger } from '../policy/logger.ts';
import { KnownSecrets } from '../redaction/knownSecrets.ts';
import { createFactRedactor } from '../redaction/redactFact.ts';
import { createRedactedLogger } from '../redaction/redactLogger.ts';
import type { Store } from '../store/store.ts';
import { type Bus, createBus } from '../telemetry/bus.ts';

/** Place where a server tells its facts, and keeps those that stores keep. */
export interface ServerRecords {
  readonly bus: Bus;
  /** Resolves to whether all that was told is where it was asked to be. */
  flush(): Promise<boolean>;
  /** Flushes and closes. */
  close(): Promise<void>;
}

/** Facts told while the store opens; what is told beyond is not kept. */
const maxEarly = 1000;

/** @param path - of the store; nothing is kept without one. */
export function createServerRecords(clock: Clock, logger: Logger | undefined, path: string | undefined): ServerRecords {
  const redact = createFactRedactor(new KnownSecrets(process.env));
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
  const opening = import('../store/openStore.ts').then(async ({ openStore }) => {
    store = await openStore({ path, clock, facts: bus, logger: quiet });
    for (const fact of early.splice(0)) store.record(fact);
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
