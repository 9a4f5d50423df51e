import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Gateway, type SessionOptions } from '../../../src/index.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { deferred } from '../../support/deferred.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

async function start(store: string, onMessage: SessionOptions['onMessage']) {
  const gateway = createGateway({ store, control: false });
  onTestFinished(() => gateway.stop());
  const asked = deferred<undefined>();
  const kb = gateway.integration('kb', {}, ({ input }: { input: unknown }) => {
    if (input !== 'hang') return input;
    asked.resolve(undefined);
    return new Promise(() => undefined);
  });
  const session = gateway.session('agent:main', { onMessage });
  await gateway.start();
  return { gateway, session, kb, asked: asked.promise };
}

/** What a later gateway is given, up to a message of its own. */
async function delivered(store: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  const { gateway, session } = await start(store, ({ text }, turn) => seen.push([text, turn.delivery]));
  const last = await session.send({ kind: 'user', text: 'last' });
  if (last.accepted) await last.processed;
  await gateway.stop();
  return seen;
}

const ways: readonly (readonly [string, (gateway: Gateway) => Promise<void>])[] = [
  ['stop()', (gateway) => gateway.stop()],
  ['stop({ drainMs }) whose time is over', (gateway) => gateway.stop({ drainMs: 1 })],
];

describe.skipIf(!hasSqlite).each(ways)('a turn that %s cuts', (_way, stop) => {
  it('[G-11] [I-5] has its message delivered again though its handler takes the cut call for an answer', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const results: unknown[] = [];
    const { gateway, session, asked } = await start(store, async (_message, turn) => {
      results.push(await turn.tool('kb', 'query', 'hang'));
    });
    await session.send({ kind: 'user', text: 'cut' });
    await session.send({ kind: 'user', text: 'waits' });
    await asked;
    await stop(gateway);
    expect(results).toMatchObject([{ status: 'error', synthetic: true, kind: 'cancelled' }]);
    expect(session.history.at(-1)).toMatchObject({ type: 'tool_result', result: { kind: 'cancelled' } });
    expect(await delivered(store)).toEqual([
      ['cut', 2],
      ['waits', 1],
      ['last', 1],
    ]);
    expect(await delivered(store)).toEqual([['last', 1]]);
  });

  it('[G-11] has its message delivered again though its handler called the integration itself', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const called: { kb?: { call: (request: { input: unknown }) => Promise<unknown> } } = {};
    const { gateway, session, kb, asked } = await start(store, () => called.kb?.call({ input: 'hang' }));
    called.kb = kb;
    await session.send({ kind: 'user', text: 'cut' });
    await asked;
    await stop(gateway);
    expect(await delivered(store)).toEqual([
      ['cut', 2],
      ['last', 1],
    ]);
  });

  it('[G-11] has its message delivered again, and its sender told so, though its handler fails by the signal of the turn', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const begun = deferred<undefined>();
    const { gateway, session } = await start(store, async (_message, turn) => {
      begun.resolve(undefined);
      await sleep(3_600_000, undefined, { signal: turn.signal });
    });
    const accepted = await session.send({ kind: 'user', text: 'cut' });
    await begun.promise;
    await stop(gateway);
    expect(accepted.accepted && (await accepted.processed)).toMatchObject({
      ok: false,
      failure: {
        kind: 'cancelled',
        reason: 'stopped',
        outcome: 'unknown',
        message: expect.stringContaining('is delivered again') as string,
      },
    });
    expect(await delivered(store)).toEqual([
      ['cut', 2],
      ['last', 1],
    ]);
  });

  it('[G-11] does not have its message delivered again after done()', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const { gateway, session, asked } = await start(store, async (_message, turn) => {
      await turn.done();
      return turn.tool('kb', 'query', 'hang');
    });
    await session.send({ kind: 'user', text: 'done' });
    await asked;
    await stop(gateway);
    expect(await delivered(store)).toEqual([['last', 1]]);
  });
});

describe.skipIf(!hasSqlite)('a gateway that stops while its database is locked', () => {
  it('[G-11] [I-3] holds no session: the next gateway of the process has it, and the mark beside the file goes', async () => {
    const directory = temporaryDirectory();
    const store = join(directory, 'gateway.sqlite');
    const clock = new SkippingClock();
    const gateway = createGateway({ store, control: false, clock });
    gateway.session('agent:main', { onMessage: () => undefined });
    await gateway.start();
    const holder = openDatabase(store);
    holder.exec('BEGIN IMMEDIATE');
    const stopped = gateway.stop();
    const skipping = setInterval(() => clock.skip(1_000), 1);
    await stopped;
    clearInterval(skipping);
    holder.exec('COMMIT');
    const left = () => readdirSync(directory).filter((name) => name.includes('-left-'));
    expect(left()).toHaveLength(1);
    expect(await delivered(store)).toEqual([['last', 1]]);
    expect(left()).toEqual([]);
  });
});
