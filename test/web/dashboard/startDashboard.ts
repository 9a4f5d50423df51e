import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { DatabaseSource } from '../../../web/dashboard/databaseSource.ts';
import { type DashboardServerOptions, startDashboardServer } from '../../../web/dashboard/server.ts';
import type { AlertRules } from '../../../src/policy/alerts.ts';
import { createGateway } from '../../../src/index.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { openReader } from '../../../reader/openReader.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A gateway with a database and a socket: one integration whose circuit opens on the first failure, and one session. */
export async function startGateway(
  names: readonly string[] = ['search'],
  alerts?: AlertRules,
  resetTimeoutMs = 600_000,
) {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const path = join(home, 'gateway.sqlite');
  const gateway = createGateway({ store: path, logger: false, ...(alerts !== undefined && { alerts }) });
  const world = { trouble: undefined as string | undefined };
  const policy = { breaker: { consecutiveFailures: 1, resetTimeoutMs }, retry: { maxAttempts: 1 } };
  const integrations = names.map((name) =>
    gateway.integration(name, { policy }, () => {
      if (world.trouble !== undefined) throw Object.assign(new Error(world.trouble), { status: 503 });
      return 'found';
    }),
  );
  gateway.session('agent:main', { onMessage: () => undefined });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  const call = async (trouble?: string): Promise<void> => {
    world.trouble = trouble;
    for (const each of integrations) await each.call(undefined);
  };
  return { gateway, integrations, path, call };
}

/** What shows the database of a gateway. */
export function sourceOf(path: string): DatabaseSource {
  return new DatabaseSource({
    clock: systemClock,
    async read(work) {
      const reader = await openReader(path);
      try {
        return await work(reader);
      } finally {
        reader.close();
      }
    },
  });
}

/** The dashboard of a database. */
export async function startDashboard(path: string, options: Partial<DashboardServerOptions> = {}) {
  const server = await startDashboardServer({ clock: systemClock, source: sourceOf(path), ...options });
  onTestFinished(() => server.close());
  return server;
}
