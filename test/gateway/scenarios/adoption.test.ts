import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Gateway } from '../../../src/gateway/gatewayTypes.ts';
import { deferred } from '../../support/deferred.ts';
import { hasSqlite, temporaryDirectory } from '../../store/startStore.ts';

async function started(store: string, declare: (gateway: Gateway) => void): Promise<Gateway> {
  const gateway = createGateway({ store, control: false });
  onTestFinished(() => gateway.stop());
  declare(gateway);
  await gateway.start();
  return gateway;
}

describe.skipIf(!hasSqlite)('a gateway that adopts sessions', () => {
  it('[N-4] [G-11] goes on with a session that it was not told of', async () => {
    const store = join(temporaryDirectory(), 'gw.sqlite');
    const begun = deferred<void>();
    const first = await started(store, (gateway) =>
      gateway.session('customer:1', {
        onMessage: (_, { signal }) =>
          new Promise((resolve) => {
            begun.resolve();
            signal.addEventListener('abort', () => resolve(undefined));
          }),
      }),
    );
    await first.session('customer:1').send({ kind: 'user', text: 'where is it?' });
    await begun.promise;
    await first.stop();
    const processed = deferred<string>();
    await started(store, (gateway) =>
      gateway.adoptSessions((id) => ({
        onMessage: ({ text }, { delivery }) => processed.resolve(`${id} ${text} ${delivery}`),
      })),
    );
    expect(await processed.promise).toBe('customer:1 where is it? 2');
  });

  it('[G-11] makes a session of those options when it is asked for, once', async () => {
    const store = join(temporaryDirectory(), 'gw.sqlite');
    const gateway = await started(store, (made) =>
      made.adoptSessions((id) => (id.startsWith('user:') ? { onMessage: ({ text }) => `${id} ${text}` } : undefined)),
    );
    const session = gateway.session('user:fay');
    expect(gateway.session('user:fay')).toBe(session);
    const accepted = await session.send({ kind: 'user', text: 'hello' });
    expect(accepted.accepted && (await accepted.processed)).toEqual({ ok: true, value: 'user:fay hello' });
    expect(() => gateway.session('other')).toThrow('No session `other`; give it an onMessage to make it');
    expect(() => gateway.session('user:fay', { onMessage: () => 1 })).toThrow('There is a session `user:fay` already');
  });

  it('[N-4] says what is wrong with how it is asked', () => {
    const gateway = createGateway();
    expect(() => gateway.adoptSessions('all' as never)).toThrow('Expected a function, got "all"');
    gateway.adoptSessions(() => undefined);
    expect(() => gateway.adoptSessions(() => undefined)).toThrow('Sessions are adopted already');
  });
});
