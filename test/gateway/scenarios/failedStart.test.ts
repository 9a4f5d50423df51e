import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Session } from '../../../src/sessions/session.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { hasPostgres, postgresServer, query } from '../../support/postgresServer.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A store that cannot be had, and how it is mended. */
interface Spoilt {
  readonly store: string;
  mend(): void | Promise<unknown>;
}

const onMessage = ({ text }: { readonly text?: string | undefined }): string => `did ${text}`;
const user = (text: string) => ({ kind: 'user', text });
const refused = { accepted: false, reason: 'stopped' };

/** Where a file stands in the place of its directory. */
function spoiltFile(): Spoilt {
  const place = join(temporaryDirectory(), 'missing');
  writeFileSync(place, 'no directory');
  return { store: join(place, 'kept.sqlite'), mend: () => rmSync(place) };
}

/** Whose user may not make the schema. */
async function forbiddenDatabase(): Promise<Spoilt> {
  const { port } = await postgresServer();
  const url = await (await postgresServer()).database();
  const name = new URL(url).pathname.slice(1);
  const role = `guest_of_${name}`;
  await query(url, `CREATE ROLE ${role} LOGIN`);
  return {
    store: `postgres://${role}@127.0.0.1:${port}/${name}`,
    mend: () => query(url, `GRANT CREATE ON DATABASE ${name} TO ${role}`),
  };
}

function makeGateway(store: string) {
  const gateway = createGateway({ store, control: false });
  onTestFinished(() => gateway.stop());
  return { gateway, session: gateway.session('s', { onMessage }) };
}

async function ended(session: Session, text: string): Promise<unknown> {
  const sent = await session.send(user(text));
  return sent.accepted ? { durable: sent.durable, outcome: await sent.processed } : sent;
}

const stores: readonly (readonly [string, () => Spoilt | Promise<Spoilt>])[] = [
  ...(hasSqlite ? [['a file', spoiltFile] as const] : []),
  ...(hasPostgres ? [['PostgreSQL', forbiddenDatabase] as const] : []),
];

describe.each(stores)('a gateway whose start has failed, on %s', (_, spoilt) => {
  it('[I-6] [G-9] refuses messages, those that waited for the start as well', async () => {
    const { gateway, session } = makeGateway((await spoilt()).store);
    const early = session.send(user('early'));
    await expect(gateway.start()).rejects.toMatchObject({ code: 'UNWEDGE_STORE_UNAVAILABLE' });
    expect(await early).toEqual(refused);
    expect(await session.send(user('late'))).toEqual(refused);
    expect(await gateway.session('new', { onMessage }).send(user('later'))).toEqual(refused);
    expect(await session.sendAgain('s-m1')).toMatchObject({ ok: false });
    expect(session.history).toEqual([]);
  });

  it('[I-6] [G-9] takes messages once it is started again, those that waited for that as well', async () => {
    const { store, mend } = await spoilt();
    const { gateway, session } = makeGateway(store);
    await gateway.start().catch(() => undefined);
    const unkept = gateway.session('unkept', { onMessage, durable: false });
    expect(await unkept.send(user('late'))).toEqual(refused);
    await mend();
    const starting = gateway.start();
    const sent = ended(session, 'early');
    await starting;
    expect(await sent).toEqual({ durable: true, outcome: { ok: true, value: 'did early' } });
    expect(await ended(session, 'late')).toEqual({ durable: true, outcome: { ok: true, value: 'did late' } });
    expect(await ended(unkept, 'late')).toMatchObject({ durable: false, outcome: { ok: true } });
    // One too many is refused, and changes nothing.
    await expect(gateway.start()).rejects.toThrow('was started already');
    expect(await ended(session, 'last')).toMatchObject({ outcome: { ok: true } });
  });
});
