import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Gateway } from '../../../src/gateway/gatewayTypes.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const stores: readonly (readonly [string, () => string | Promise<string>])[] = [
  ['memory', () => ':memory:'],
  ...(hasSqlite ? [['SQLite', () => join(temporaryDirectory(), 'names.sqlite')] as const] : []),
  ...(hasPostgres ? [['PostgreSQL', async () => (await newSchema()).url] as const] : []),
];

const refused = ['nul\0id', 'b\uD800', '\uDC00', `${'é'.repeat(512)}x`];
/** As long as can be, of a text that a database does not compress. */
const longest = Array.from({ length: 16 }, (_, index) => hash(`${index}`).slice(0, 64)).join('');

function hash(text: string): string {
  return createHash('sha512').update(text).digest('base64');
}

function makeGateway(store: string): Gateway {
  const gateway = createGateway({ store, control: false });
  onTestFinished(() => gateway.stop());
  return gateway;
}

const onMessage = ({ text }: { readonly text?: string | undefined }): string | undefined => text;
const user = { kind: 'user', text: 'hello' };

describe.each(stores)('names in a gateway on %s', (_, storeOf) => {
  it('[N-3] [I-5] that a store would change or has no room for are refused as ids of sessions', async () => {
    const gateway = makeGateway(await storeOf());
    const asked: string[] = [];
    gateway.adoptSessions((id) => {
      asked.push(id);
      return { onMessage };
    });
    for (const id of refused) {
      expect(() => gateway.session(id, { onMessage })).toThrow(RangeError);
      expect(() => gateway.session(id)).toThrow('`session`');
    }
    expect(asked).toEqual([]);
  });

  it('[N-3] [I-5] are refused as keys of messages', async () => {
    const gateway = makeGateway(await storeOf());
    const session = gateway.session('s', { onMessage });
    for (const key of refused) expect(() => session.send(user, { key })).toThrow(RangeError);
    expect(() => session.send(user, { key: refused[0] })).toThrow('`options.key`');
  });

  it('[N-1] are refused as names of integrations', async () => {
    const gateway = makeGateway(await storeOf());
    for (const name of refused) expect(() => gateway.integration(name, {}, () => 1)).toThrow(RangeError);
  });

  it('[N-1] [I-5] of 1,024 bytes are kept, id and key together', async () => {
    expect(Buffer.byteLength(longest)).toBe(1024);
    const store = await storeOf();
    const gateway = makeGateway(store);
    const session = gateway.session(longest, { onMessage });
    await gateway.start();
    const sent = await session.send(user, { key: longest });
    expect(sent).toMatchObject({ accepted: true, durable: store !== ':memory:' });
    expect(await session.send(user, { key: longest })).toMatchObject({ accepted: false, reason: 'duplicate' });
    expect(sent.accepted && (await sent.processed)).toEqual({ ok: true, value: 'hello' });
  });
});

describe.skipIf(!hasPostgres)('names in a gateway that has not the session', () => {
  it('[N-3] of 1,024 bytes reach its owner, and keys that others would be taken for are refused', async () => {
    const { url } = await newSchema();
    const [owner, other] = [makeGateway(url), makeGateway(url)];
    owner.session(longest, { onMessage });
    const session = other.session(longest, { onMessage });
    await owner.start();
    await other.start();
    expect(session.heldElsewhere).toBe(true);
    const sent = await session.send(user, { key: longest });
    expect(sent).toMatchObject({ accepted: true, durable: true });
    expect(sent.accepted && (await sent.processed)).toEqual({ ok: true, value: 'hello' });
    for (const key of ['b\0', 'b\uD800']) expect(() => session.send(user, { key })).toThrow(RangeError);
    expect(await session.send(user, { key: 'b\uFFFD' })).toMatchObject({ accepted: true });
  });
});
