import { hostname } from 'node:os';
import type { AlertOrigin } from '../policy/facts/alertFacts.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** Returns the origin of the alerts of a runtime. A store in memory is no database that a command could look into. */
export function alertOrigin({ name, store: storeOf }: Pick<Runtime, 'name' | 'store'>): AlertOrigin {
  const store = storeOf();
  return {
    host: hostname(),
    pid: process.pid,
    gateway: name,
    ...(store?.persistent === true && { database: store.path }),
  };
}
