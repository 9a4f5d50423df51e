import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { GatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import type { Gateway } from '../../../src/gateway/gatewayTypes.ts';
import type { Fact, Told } from '../../../src/policy/facts/facts.ts';
import type { Message } from '../../../src/sessions/mailbox.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const program = fileURLToPath(new URL('../../fixtures/keptGateway.mjs', import.meta.url));
const freshPath = (): string => join(temporaryDirectory(), 'gateway.sqlite');

/** A gateway whose session takes messages by `onMessage`; every fact it tells is kept. */
function makeGateway(store: GatewayOptions['store'], onMessage: MessageHandler, clock?: SkippingClock) {
  const gateway = createGateway({ store, control: false, clock });
  const facts: Told<Fact>[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  gateway.integration('kb', {}, ({ input }: { input: unknown }) => input);
  const session = gateway.session('agent:main', { onMessage });
  onTestFinished(() => gateway.stop());
  return { gateway, session, facts };
}

async function accept(session: ReturnType<Gateway['session']>, message: Message, key?: string) {
  const acceptance = await session.send(message, key === undefined ? {} : { key });
  if (!acceptance.accepted) throw new Error(`refused: ${acceptance.reason}`);
  return acceptance;
}

/** Starts the fixture; `line` waits for what it prints. */
function startProgram(store: string): { child: ChildProcess; line: (text: string) => Promise<void> } {
  const child = spawn(process.execPath, [program, store], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return {
    child,
    async line(text) {
      for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
        if (next.value === text) return;
      }
      throw new Error(`the program ended before it said: ${text}`);
    },
  };
}

describe.skipIf(!hasSqlite)('a session that is kept', () => {
  it('[I-5] says that a message is durable, and goes on where it was after a restart', async () => {
    const store = freshPath();
    const first = makeGateway(store, (message, turn) => turn.tool('kb', 'query', message.data));
    await first.gateway.start();
    const acceptance = await accept(first.session, { kind: 'user', text: 'hello', data: { n: 1 } });
    expect(acceptance).toMatchObject({ durable: true, id: 'agent:main-m1' });
    await acceptance.processed;
    const { history } = first.session;
    await first.gateway.stop();
    const second = makeGateway(store, () => undefined);
    await second.gateway.start();
    expect(second.session.history).toEqual(history.map((entry) => ({ ...entry, at: Math.round(entry.at) })));
    expect(await accept(second.session, { kind: 'user' })).toMatchObject({ id: 'agent:main-m2' });
  });

  it('[G-11] keeps what a tool may do beside its call, for who has to answer it later', async () => {
    const store = freshPath();
    const gateway = createGateway({ store, control: false });
    onTestFinished(() => gateway.stop());
    gateway.integration('kb', { tools: { find: { effect: 'readOnly' } } }, () => 'found');
    const session = gateway.session('agent:main', { onMessage: (_, turn) => turn.tool('kb', 'find') });
    await gateway.start();
    await (await accept(session, { kind: 'user' })).processed;
    await gateway.stop();
    expect(openDatabase(store).prepare('SELECT effect FROM unwedge_calls').all()).toEqual([{ effect: 'readOnly' }]);
  });

  it('[I-5] takes messages before the start and acknowledges them after it', async () => {
    const { gateway, session } = makeGateway(freshPath(), ({ text }) => text);
    const early = accept(session, { kind: 'user', text: 'early' });
    await gateway.start();
    expect(await early).toMatchObject({ durable: true });
    expect(await (await early).processed).toEqual({ ok: true, value: 'early' });
  });

  it('[G-9] refuses a second message of the same key, also after a restart', async () => {
    const store = freshPath();
    const first = makeGateway(store, () => undefined);
    await first.gateway.start();
    await accept(first.session, { kind: 'user' }, 'k-1');
    const duplicate = { accepted: false, reason: 'duplicate', id: 'agent:main-m1' };
    expect(await first.session.send({ kind: 'user' }, { key: 'k-1' })).toEqual(duplicate);
    await first.gateway.stop();
    const second = makeGateway(store, () => undefined);
    await second.gateway.start();
    expect(await second.session.send({ kind: 'user' }, { key: 'k-1' })).toEqual(duplicate);
  });

  it('[I-5] delivers after a stop what waited, and the message whose turn was cut off, which is told', async () => {
    const store = freshPath();
    const first = makeGateway(store, (_message, turn) => {
      return new Promise((_, reject) => turn.signal.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    await first.gateway.start();
    const acceptance = await accept(first.session, { kind: 'user', text: 'one' });
    const other = await accept(first.session, { kind: 'user', text: 'two' });
    await first.gateway.stop();
    expect(await acceptance.processed).toMatchObject({ ok: false });
    const seen: unknown[] = [];
    const second = makeGateway(store, ({ text }, turn) => seen.push([text, turn.delivery, turn.messageId]));
    await second.gateway.start();
    const third = await accept(second.session, { kind: 'user', text: 'three' });
    await third.processed;
    expect(seen).toEqual([
      ['one', 2, acceptance.id],
      ['two', 1, other.id],
      ['three', 1, third.id],
    ]);
  });

  it('[G-11] [I-1] [I-2] after kill -9 answers the lost call and delivers what was accepted', async () => {
    const store = freshPath();
    const { child, line } = startProgram(store);
    await line('ready');
    child.stdin?.write('1\n2\n');
    await line('accepted 2 true');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const seen: unknown[] = [];
    const { gateway, session, facts } = makeGateway(store, ({ data }, turn) => seen.push([data, turn.delivery]));
    await gateway.start();
    await accept(session, { kind: 'user', data: 'next' }).then(({ processed }) => processed);
    expect(seen).toEqual([
      [{ n: 1 }, 2],
      [{ n: 2 }, 1],
      ['next', 1],
    ]);
    expect(session.history.slice(0, 4)).toMatchObject([
      { type: 'message', turn: 1, id: 'agent:main-m1' },
      { type: 'tool_call', call: 'agent:main-1-1' },
      { type: 'tool_result', result: { synthetic: true, kind: 'crash', outcome: 'unknown' } },
      { type: 'message', turn: 2, id: 'agent:main-m1' },
    ]);
    expect(facts.filter(({ type }) => type === 'session.tool_failed')).toMatchObject([{ call: 'agent:main-1-1' }]);
    expect(facts.filter(({ type }) => type === 'session.resumed')).toMatchObject([{ waiting: 2 }]);
  });

  it('[G-14] makes a dead letter of a message that ended its gateway three times, and none of those that waited behind it', async () => {
    const store = freshPath();
    for (let time = 0; time < 3; time++) {
      const { child, line } = startProgram(store);
      await line('ready');
      if (time === 0) child.stdin?.write('1\n');
      await line('calling 1');
      if (time === 0) {
        child.stdin?.write('2\n');
        await line('accepted 2 true');
      }
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    const seen: unknown[] = [];
    const { gateway, session, facts } = makeGateway(store, ({ data }, turn) => seen.push([data, turn.delivery]));
    await gateway.start();
    await accept(session, { kind: 'user', data: 'next' }).then(({ processed }) => processed);
    expect(seen).toEqual([
      [{ n: 2 }, 1],
      ['next', 1],
    ]);
    expect(facts.filter(({ type }) => type === 'session.dead_letter')).toMatchObject([
      { message: 'agent:main-m1', reason: 'poison' },
    ]);
    await gateway.stop();
    const stored = openDatabase(store)
      .prepare(`SELECT event_type AS type FROM events WHERE category = 'session'`)
      .all();
    const count = (type: string): number => stored.filter((row) => row['type'] === type).length;
    expect([count('dead_letter'), count('resumed'), count('tool_failed')]).toEqual([1, 3, 3]);
  });

  it('[G-11] leaves a session alone whose gateway lives, and says so', async () => {
    const store = freshPath();
    const first = makeGateway(store, ({ text }) => text);
    await first.gateway.start();
    const second = makeGateway(store, () => 'stolen');
    await second.gateway.start();
    expect(await second.session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    expect(second.facts.filter(({ type }) => type === 'session.held')).toHaveLength(1);
    const { processed } = await accept(first.session, { kind: 'user', text: 'mine' });
    expect(await processed).toEqual({ ok: true, value: 'mine' });
  });

  it('[G-11] [G-6] takes a message at once where the gateway that had its session has stopped in good order', async () => {
    const store = freshPath();
    const first = makeGateway(store, () => 'first');
    await first.gateway.start();
    // Nothing of its time passes: it is not the look every ten seconds that finds it free.
    const second = makeGateway(store, () => 'second', new SkippingClock());
    await second.gateway.start();
    expect(second.session.heldElsewhere).toBe(true);
    await first.gateway.stop();
    const { processed } = await accept(second.session, { kind: 'user' });
    expect(await processed).toEqual({ ok: true, value: 'second' });
  });

  it('[G-6] is asked for once a second at most, however many messages come for it', async () => {
    const store = freshPath();
    const first = makeGateway(store, () => 'first');
    await first.gateway.start();
    const clock = new SkippingClock();
    clock.stop();
    const second = makeGateway(store, () => 'second', clock);
    await second.gateway.start();
    const refused = { accepted: false, reason: 'owned_elsewhere' };
    expect(await second.session.send({ kind: 'user' })).toEqual(refused);
    await first.gateway.stop();
    expect(await second.session.send({ kind: 'user' })).toEqual(refused);
    clock.skip(1000);
    await accept(second.session, { kind: 'user' });
  });

  it('is not kept when it is asked not to be', async () => {
    const gateway = createGateway({ store: freshPath(), control: false });
    onTestFinished(() => gateway.stop());
    const session = gateway.session('scratch', { onMessage: () => undefined, durable: false });
    await gateway.start();
    expect(await accept(session, { kind: 'user', data: () => 1 })).toMatchObject({ durable: false });
  });

  it.each([
    ['is no database', (path: string) => writeFileSync(path, 'not a database'.repeat(1000))],
    ['is a directory', (path: string) => mkdirSync(path)],
    [
      'has a newer schema',
      (path: string) => openDatabase(path).exec('PRAGMA application_id = 0x756e7764; PRAGMA user_version = 99'),
    ],
  ])('[I-5] goes on without being kept, and says so, when the store %s', async (_, damage) => {
    const store = freshPath();
    damage(store);
    const { gateway, session, facts } = makeGateway({ path: store, required: false }, ({ text }) => text);
    await gateway.start();
    const acceptance = await accept(session, { kind: 'user', text: 'hello' });
    expect(acceptance).toMatchObject({ durable: false });
    expect(await acceptance.processed).toEqual({ ok: true, value: 'hello' });
    expect(facts.filter(({ type }) => type === 'store.degraded')).toHaveLength(1);
  });

  it('[G-11] is claimed within 10 s of the store being usable again', async () => {
    const store = freshPath();
    const first = makeGateway(store, (_message, turn) => {
      return new Promise((_, reject) => turn.signal.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    await first.gateway.start();
    await accept(first.session, { kind: 'user', text: 'old' });
    await first.gateway.stop();
    const version = Number(openDatabase(store).prepare('PRAGMA user_version').get()?.['user_version']);
    openDatabase(store).exec('PRAGMA user_version = 99');
    const clock = new SkippingClock();
    const { gateway, session } = makeGateway({ path: store, required: false }, () => undefined, clock);
    await gateway.start();
    expect(await accept(session, { kind: 'user' })).toMatchObject({ durable: false });
    openDatabase(store).exec(`PRAGMA user_version = ${version}`);
    const recovered = gateway.wait('store.recovered');
    clock.skip(1000);
    await recovered;
    const resumed = gateway.wait('session.resumed');
    clock.skip(9000);
    expect(await resumed).toMatchObject({ waiting: 1 });
    expect(await accept(session, { kind: 'user' })).toMatchObject({ durable: true });
  });

  it('[I-3] stops while messages wait for its start, and answers them', async () => {
    const { gateway, session } = makeGateway(freshPath(), () => undefined);
    const early = session.send({ kind: 'user' });
    const starting = gateway.start();
    await gateway.stop();
    await starting;
    expect(await early).toEqual({ accepted: false, reason: 'stopped' });
  });

  it('refuses a text that is none at once', () => {
    const { session } = makeGateway(freshPath(), () => undefined);
    const message = { kind: 'user', text: 5 as never };
    expect(() => session.send(message)).toThrow(new TypeError('Expected `message.text` to be a string, got 5'));
  });

  it('refuses data that is not JSON at once', async () => {
    const { session } = makeGateway(freshPath(), () => undefined);
    expect(() => session.send({ kind: 'user', data: 1n })).toThrow('Expected `message.data` to be JSON');
  });
});
