import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identifyNow } from '../../../src/actors/process/processIdentity.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Clock } from '../../../src/policy/clock.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { deferred } from '../../support/deferred.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const program = fileURLToPath(new URL('../../fixtures/keptGateway.mjs', import.meta.url));
const silent = fileURLToPath(new URL('../../fixtures/silent.mjs', import.meta.url));
const freshPath = (): string => join(temporaryDirectory(), 'gateway.sqlite');

/** A gateway in a process of its own, in the middle of a turn; `line` waits for what it prints. */
async function startOther(store: string) {
  const child: ChildProcess = spawn(process.execPath, [program, store], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const line = async (start: string): Promise<string> => {
    for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
      if (next.value.startsWith(start)) return next.value;
    }
    throw new Error(`the program ended before it said: ${start}`);
  };
  await line('ready');
  child.stdin?.write('1\n');
  await line('calling 1');
  return { child, line };
}

function makeGateway(store: string, onMessage: MessageHandler, clock: Clock = systemClock) {
  const gateway = createGateway({ store, clock, control: false });
  onTestFinished(() => gateway.stop());
  return { gateway, session: gateway.session('agent:main', { onMessage }) };
}

/** A gateway that waits for the session of another one, on a clock that can be put forward. */
async function startWaiting(store: string) {
  const clock = new SkippingClock();
  const seen: unknown[] = [];
  const made = makeGateway(store, ({ data }, turn) => seen.push([data, turn.delivery]), clock);
  await made.gateway.start();
  expect(made.session.heldElsewhere).toBe(true);
  return { ...made, clock, seen };
}

/** Looks once a turn of the event loop; the test's own limit ends it. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

describe.skipIf(!hasSqlite)('two gateways on one database', () => {
  it('[G-11] leave each other’s session alone for as long as the other one lives and says so', async () => {
    const store = freshPath();
    const other = await startOther(store);
    const { gateway, session, clock } = await startWaiting(store);
    for (let times = 0; times < 3; times++) {
      clock.skip(10_000);
      await gateway.store?.flush();
    }
    other.child.stdin?.write('2\n');
    expect(await other.line('accepted 2')).toBe('accepted 2 true');
    expect(session.heldElsewhere).toBe(true);
  });

  it('[G-11] take over from each other within 10 s of a kill -9', async () => {
    const store = freshPath();
    const { child } = await startOther(store);
    const { gateway, session, clock, seen } = await startWaiting(store);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const resumed = gateway.wait('session.resumed');
    const ended = gateway.wait('session.turn_ended');
    clock.skip(10_000);
    expect(await resumed).toMatchObject({ waiting: 1, lostCalls: 1 });
    await ended;
    expect(seen).toEqual([[{ n: 1 }, 2]]);
    expect(await session.send({ kind: 'user' })).toMatchObject({ accepted: true, durable: true });
  });

  it('[G-11] count the calls that a kill -9 lost also where the next one starts after it', async () => {
    const store = freshPath();
    const { child } = await startOther(store);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const { gateway } = makeGateway(store, () => undefined);
    const resumed = gateway.wait('session.resumed');
    await gateway.start();
    expect(await resumed).toMatchObject({ waiting: 1, lostCalls: 1, openCalls: 0 });
    const [row] =
      (await gateway.store?.read({ category: 'session', limit: 100 }))?.filter(({ type }) => type === 'resumed') ?? [];
    expect(row?.metadata).toMatchObject({ lost_calls: 1 });
  });

  it.skipIf(process.platform !== 'linux')('[S-8] [G-11] end the children of the one they took over from', async () => {
    const store = freshPath();
    const { child } = await startOther(store);
    const orphan = spawn(process.execPath, [silent], { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(orphan, 'exit');
    onTestFinished(() => void orphan.kill('SIGKILL'));
    await once(orphan.stdout, 'data');
    const { gateway, clock } = await startWaiting(store);
    const [itself, owner] = [identifyNow(orphan.pid ?? 0), identifyNow(child.pid ?? 0)];
    openDatabase(store)
      .prepare('INSERT INTO unwedge_children VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(itself?.pid ?? 0, itself?.start ?? '', 'a-mark', 'silent', Date.now(), owner?.pid ?? 0, owner?.start ?? '');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const reaped = gateway.wait('process.reaped');
    clock.skip(10_000);
    expect(await reaped).toMatchObject({ pid: orphan.pid });
    await gone;
  });

  it('[G-11] [M-11] take over from one that stands still, which then writes and dispatches nothing', async () => {
    const store = freshPath();
    const { child, line } = await startOther(store);
    const { gateway, session, clock, seen } = await startWaiting(store);
    child.kill('SIGSTOP');
    const ended = gateway.wait('session.turn_ended');
    clock.skip(5 * 60_000 + 10_000);
    await ended;
    expect(seen).toEqual([[{ n: 1 }, 2]]);
    child.kill('SIGCONT');
    child.stdin?.write('2\n');
    // The next it says: it has not begun it.
    expect(await line('')).toBe('refused 2 owned_elsewhere');
    expect(await session.send({ kind: 'user' })).toMatchObject({ id: 'agent:main-m2' });
  });

  it('[M-11] [I-1] end the turn of the one that lost its session, and its next call before it is dispatched', async () => {
    const store = freshPath();
    const goOn = deferred<void>();
    let calls = 0;
    const results: unknown[] = [];
    const slow = makeGateway(store, async (_message, turn) => {
      await goOn.promise;
      results.push(await turn.tool('kb', 'query'), turn.signal.aborted);
    });
    slow.gateway.integration('kb', {}, () => ++calls);
    await slow.gateway.start();
    const acceptance = await slow.session.send({ kind: 'user' });
    const { gateway, clock } = await startWaiting(store);
    const taken = gateway.wait('session.turn_ended');
    clock.skip(5 * 60_000 + 10_000);
    await taken;
    const lost = slow.gateway.wait('session.taken_over');
    goOn.resolve();
    await lost;
    expect(acceptance.accepted && (await acceptance.processed)).toMatchObject({ failure: { reason: 'taken_over' } });
    await Promise.resolve();
    expect([calls, results]).toMatchObject([0, [{ synthetic: true, outcome: 'not_started' }, true]]);
    expect(slow.session.heldElsewhere).toBe(true);
  });

  it('[G-11] get a session back from the one that took it when that one has gone', async () => {
    const store = freshPath();
    const clock = new SkippingClock();
    const slow = makeGateway(store, () => 'done', clock);
    await slow.gateway.start();
    const other = await startWaiting(store);
    // Only the clock of the other one goes on: the first has not renewed in time.
    other.clock.skip(5 * 60_000 + 10_000);
    await until(() => !other.session.heldElsewhere);
    expect(await slow.session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    await other.gateway.stop();
    clock.skip(10_000);
    await until(() => !slow.session.heldElsewhere);
    expect(await slow.session.send({ kind: 'user' })).toMatchObject({ accepted: true, durable: true });
  });
});
