import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { hasSqlite, temporaryDirectory } from '../../store/startStore.ts';
import { hasPostgres } from '../../support/postgresServer.ts';

const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 2, resetTimeoutMs: '60s' } } as const;

/** Two gateways of one code on one store: what one calls is down, what the other calls is not asked. */
async function start(store: string) {
  const one = async (operation: () => string) => {
    const gateway = createGateway({ store, control: false });
    onTestFinished(() => gateway.stop());
    const kb = gateway.integration('kb', { policy }, operation);
    await gateway.start();
    return kb;
  };
  const down = (): never => {
    throw new Error('gateway closed (1012)');
  };
  const [first, second] = [await one(down), await one(() => 'here')];
  await first.call({});
  await first.call({});
  expect([first.breaker.state, second.breaker.state]).toEqual(['open', 'closed']);
  return { first, second };
}

describe('the circuit of a function', () => {
  it.skipIf(!hasPostgres)('[N-5] opens at all gateways on one PostgreSQL, with its cause', async () => {
    const { second } = await start((await newSchema()).url);
    await expect.poll(() => second.breaker.state).toBe('open');
    expect(await second.call({})).toMatchObject({
      failure: { kind: 'circuit_open', message: expect.stringContaining('1012') as string },
    });
  });

  it.skipIf(!hasSqlite)("[N-5] is a gateway's own where the store is a file", async () => {
    const { second } = await start(join(temporaryDirectory(), 'own.sqlite'));
    expect(await second.call({})).toEqual({ ok: true, value: 'here' });
  });
});
