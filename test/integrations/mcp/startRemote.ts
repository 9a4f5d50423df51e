import { expect, onTestFinished } from 'vitest';
import {
  createGateway,
  type Fact,
  type FactOf,
  type FactType,
  type Gateway,
  type McpIntegration,
  type RemoteMcpOptions,
} from '../../../src/index.ts';
import {
  type FaultyMcpHttpServer,
  type FaultyMcpHttpServerOptions,
  startFaultyMcpHttpServer,
} from '../../../testing/index.ts';
import { SkippingClock } from '../../support/skippingClock.ts';

export interface StartedRemote {
  readonly gateway: Gateway;
  readonly kb: McpIntegration;
  readonly server: FaultyMcpHttpServer;
  readonly clock: SkippingClock;
  readonly facts: readonly Fact[];
  /** Resolves with the n-th fact of this type, from 1. */
  told<T extends FactType>(type: T, count?: number): Promise<FactOf<T>>;
}

/** A gateway with a remote server that does wrong what the script says. Its tools are known when this resolves, unless `waits` is false. */
export async function startRemote(
  script: FaultyMcpHttpServerOptions = {},
  options: Partial<RemoteMcpOptions> = {},
  waits = true,
): Promise<StartedRemote> {
  const server = await startFaultyMcpHttpServer(script);
  const clock = new SkippingClock();
  const gateway = createGateway({ clock, random: () => 0 });
  const facts: Fact[] = [];
  const watchers = new Set<() => void>();
  gateway.on('*', (fact) => {
    facts.push(fact);
    for (const look of watchers) look();
  });
  onTestFinished(async () => {
    await gateway.stop();
    await server.close();
  });
  // However long the machine takes: its time passes on this clock as well.
  const kb = gateway.mcpServer('kb', { url: server.url, handshakeMs: 600_000, ...options });
  await gateway.start();
  if (waits) expect(await kb.tools()).toMatchObject({ ok: true });
  return {
    gateway,
    kb,
    server,
    clock,
    facts,
    told: <T extends FactType>(type: T, count = 1) =>
      new Promise<FactOf<T>>((resolve) => {
        const look = (): void => {
          const found = facts.filter((fact): fact is FactOf<T> & Fact => fact.type === type);
          const fact = found[count - 1];
          if (fact === undefined) return;
          watchers.delete(look);
          resolve(fact);
        };
        watchers.add(look);
        look();
      }),
  };
}

/** Puts the clock forward step by step until a promise has settled. */
export async function skipUntil<T>(clock: SkippingClock, promise: Promise<T>, stepMs = 1000): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  promise.then(over, over);
  while (!isOver) {
    clock.skip(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}
