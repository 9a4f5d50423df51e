import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Liveness } from '../../src/actors/process/processIdentity.ts';
import { type AlertOptions, createGateway } from '../../src/index.ts';
import { judgedOutside } from '../../operator/judgedOutside.ts';
import type { IntegrationStatus, UnwatchedAlert } from '../../reader/storeReader.ts';
import { call } from '../cli/startCli.ts';
import { hasSqlite } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';

interface Shown {
  readonly alerts?: { readonly unwatched: readonly unknown[] };
  readonly unwatched?: readonly unknown[];
}

/** A gateway with six failures of `kb` on record, and what commands say of a database. */
async function startFailing(alerts: AlertOptions | false) {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const db = join(home, 'gateway.sqlite');
  const gateway = createGateway({ store: db, alerts, logger: false });
  onTestFinished(() => gateway.stop());
  const kb = gateway.integration('kb', { policy: { maxAttempts: 1, breaker: { consecutiveFailures: 100 } } }, () => {
    throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  });
  await gateway.start();
  for (let index = 0; index < 6; index++) await kb.call({});
  await gateway.store?.flush();
  const ask = async (command: string): Promise<Shown> =>
    JSON.parse((await call([command, '--json', '--db', db], { now: Date.now })).stdout) as Shown;
  return { db, gateway, ask };
}

describe.skipIf(!hasSqlite)('failures of a live gateway', () => {
  it.each([
    ['thresholds of its own', { failures: 50 }],
    ['none for this integration', { integrations: { kb: false } }],
    ['alerts switched off', false],
  ] as const)('[O-3] are no alert of others: it has %s', async (_, alerts) => {
    const { gateway, ask } = await startFailing(alerts);
    expect((await ask('alerts')).unwatched).toEqual([]);
    expect((await ask('status')).alerts?.unwatched).toEqual([]);
    // Without it nobody's judgement is left but ours.
    await gateway.stop();
    expect((await ask('alerts')).unwatched).toMatchObject([{ integration: 'kb', failures: 6 }]);
  });

  it('[O-3] are none either that a gateway of before has left to it', async () => {
    const { db, gateway, ask } = await startFailing(false);
    await gateway.stop();
    const next = createGateway({ store: db, alerts: false, logger: false });
    onTestFinished(() => next.stop());
    next.integration('kb', {}, () => 'well');
    await next.start();
    await next.store?.flush();
    expect((await ask('alerts')).unwatched).toEqual([]);
  });
});

describe('alerts that nobody watched', () => {
  const start = Date.UTC(2026, 0, 1);
  const alert: UnwatchedAlert = {
    ...{ integration: 'kb', because: 'failures', failures: 9, crashes: 0, lastFailureAt: start + 9 },
    ...{ kind: 'timeout', message: 'of the gateway' },
  };
  const part = (pid: number, failures10m: number, at: number, error: string) => ({
    ...{ pid, failures10m, failures24h: failures10m, crashes10m: 0, crashes24h: 0 },
    lastError: { at, kind: 'timeout', error },
  });
  const recorded = (...runtimes: IntegrationStatus['runtimes']): readonly IntegrationStatus[] => [
    { integration: 'kb', ...part(0, 0, start, ''), circuit: 'closed', runtimes },
  ];
  const runs = (name: string, liveness: Liveness = 'alive', integrations: readonly string[] = []) => ({
    runtime: {
      ...{ id: name, pid: 7, processStart: '', startedAt: start, renewedAt: start, name, socket: undefined },
      liveness,
    },
    answer: {
      integrations: integrations.map((integration) => ({
        ...{ integration, state: 'idle', circuit: 'closed' as const, inFlight: 0, waiting: 0 },
      })),
    },
  });
  const judge = (failures: IntegrationStatus['runtimes'], ...asked: readonly ReturnType<typeof runs>[]) =>
    judgedOutside([alert], recorded(...failures), asked);

  it('[O-3] are those of dead gateways, and of commands that watch nothing', () => {
    const own = [part(7, 9, start + 9, 'own')];
    expect(judge(own, runs('gateway', 'dead'))).toEqual([alert]);
    expect(judge(own, runs('unwedge run nightly'))).toEqual([alert]);
    expect(judge(own, runs('unwedge agent claude'))).toEqual([alert]);
    expect(judge(own, runs('unwedge mcp fs'))).toEqual([]);
    expect(judge(own, runs('gateway', 'unknown'))).toEqual([]);
  });

  it('[O-3] count what others recorded beside a gateway, with their words', () => {
    const own = part(7, 4, start + 9, 'own');
    expect(judge([own, part(8, 5, start + 5, 'of a run')], runs('gateway'))).toMatchObject([
      { failures: 5, lastFailureAt: start + 5, message: 'of a run' },
    ]);
    expect(
      judgedOutside([{ ...alert, failures: 8 }], recorded(own, part(8, 4, start + 5, 'few')), [runs('gateway')]),
    ).toEqual([]);
  });

  it('[O-3] are those of a process of before that had the pid, unless the gateway has the integration', () => {
    const earlier = [part(7, 9, start - 5, 'before')];
    expect(judge(earlier, runs('gateway'))).toEqual([alert]);
    expect(judge(earlier, runs('gateway', 'alive', ['kb']))).toEqual([]);
  });
});
