import { describe, expect, it } from 'vitest';
import { createActor, fromCallback } from 'xstate';
import {
  type ConnectionEmitted,
  type ConnectionEvent,
  type ConnectionInput,
  type LinkOrder,
  connectionMachine,
} from '../../src/machines/connection.ts';
import type { FailureFacts } from '../../src/policy/failures/failure.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

const crash: FailureFacts = { kind: 'crash', reason: 'connection_lost', message: 'gone', outcome: 'unknown' };
const end = { pid: 7, exitCode: 1, elapsedMs: 20 };

function startConnection(input: Partial<ConnectionInput> = {}) {
  const clock = new SimulatedClock();
  const orders: LinkOrder[] = [];
  const emitted: ConnectionEmitted[] = [];
  let released = false;
  const logic = connectionMachine.provide({
    actors: {
      link: fromCallback<LinkOrder>(({ receive }) => {
        receive((order) => orders.push(order));
        return () => {
          released = true;
        };
      }),
    },
  });
  const actor = createActor(logic, { input: { command: 'server', ...input }, clock });
  actor.on('*', (event) => emitted.push(event));
  actor.subscribe({ error: () => undefined });
  actor.start();
  const send = (...events: ConnectionEvent[]) => events.forEach((event) => actor.send(event));
  return { actor, clock, orders, emitted, send, isReleased: () => released };
}

const ready: ConnectionEvent = { type: 'link.ready', server: { name: 'tools', version: '1' } };

describe('the connection machine', () => {
  it('[P-1] is ready once the handshake is over, and keeps what the server said of itself', () => {
    const { actor, send } = startConnection();
    expect(actor.getSnapshot().value).toBe('handshake');
    send(ready);
    expect(actor.getSnapshot()).toMatchObject({ value: 'ready', context: { server: { name: 'tools' } } });
  });

  it('[P-1] gives a handshake of 10 s up, with everything that was started', async () => {
    const { actor, clock, orders, send } = startConnection();
    await clock.advance(9999);
    expect(actor.getSnapshot().value).toBe('handshake');
    await clock.advance(1);
    const facts = { kind: 'timeout', reason: 'init_timeout', message: 'No answer to initialize within 10s' };
    expect(orders).toMatchObject([{ type: 'link.kill', facts }]);
    send({ type: 'link.lost', facts: { ...crash, reason: 'init_timeout' }, end });
    expect(actor.getSnapshot()).toMatchObject({ value: 'crashed', output: { facts: { reason: 'init_timeout' } } });
  });

  it('[P-1] takes an answer that was only read after the limit because the event loop was blocked', async () => {
    const { actor, clock, send } = startConnection({ handshakeMs: 300 });
    clock.setTimeout(() => {
      expect(actor.getSnapshot().value).toBe('overdue');
      send(ready);
    }, 300);
    await clock.advance(1000);
    expect(actor.getSnapshot().value).toBe('ready');
  });

  it('has no limit on a connection that is ready', async () => {
    const { actor, clock, send } = startConnection();
    send(ready);
    await clock.advance(86_400_000);
    expect(actor.getSnapshot().value).toBe('ready');
  });

  it.each(['handshake', 'ready'])('[M-6] ends as a failure when the other side is lost while it is %s', (state) => {
    const { actor, send } = startConnection();
    if (state === 'ready') send(ready);
    send({ type: 'link.lost', facts: crash, end });
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', output: { exit: 'failure', facts: crash } });
  });

  it('[M-6] ends normally when the other side closes', () => {
    const { actor, send } = startConnection();
    send(ready, { type: 'link.closed', end: { ...end, exitCode: 0 } });
    expect(actor.getSnapshot()).toMatchObject({ value: 'closed', output: { exit: 'normal' } });
  });

  it('[P-1] kills a server that hangs, and is lost when it is gone', () => {
    const { actor, orders, send } = startConnection();
    const facts: FailureFacts = { ...crash, reason: 'hang' };
    send(ready, { type: 'link.hung', facts });
    expect(orders).toEqual([{ type: 'link.kill', facts }]);
    expect(actor.getSnapshot().status).toBe('active');
    send({ type: 'link.lost', facts, end });
    expect(actor.getSnapshot()).toMatchObject({ value: 'crashed', output: { facts: { reason: 'hang' } } });
  });

  it('[I-3] is lost 5 s after its kill when the slot never says so, and lets the slot go', async () => {
    const { actor, clock, send, isReleased } = startConnection();
    send(ready, { type: 'link.hung', facts: crash });
    await clock.advance(4999);
    expect(isReleased()).toBe(false);
    await clock.advance(1);
    expect(actor.getSnapshot().value).toBe('crashed');
    expect(isReleased()).toBe(true);
  });

  it.each(['handshake', 'ready'])('[I-3] closes in good order when asked to while it is %s', (state) => {
    const { actor, orders, send, isReleased } = startConnection();
    if (state === 'ready') send(ready);
    send({ type: 'shutdown' });
    expect(orders).toEqual([{ type: 'link.close' }]);
    expect(actor.getSnapshot().value).toBe('draining');
    send({ type: 'link.closed', end });
    expect(actor.getSnapshot()).toMatchObject({ value: 'closed', output: { exit: 'normal' } });
    expect(isReleased()).toBe(true);
  });

  it('ends normally when the other side crashes on its way out', () => {
    const { actor, send } = startConnection();
    send(ready, { type: 'shutdown' }, { type: 'link.lost', facts: crash, end });
    expect(actor.getSnapshot().output).toEqual({ exit: 'normal' });
  });

  it('[V-5] keeps its time when its supervisor stops while a hung server is killed', () => {
    const { actor, send, orders, isReleased } = startConnection();
    send(ready, { type: 'link.hung', facts: crash });
    expect(actor.getSnapshot().can({ type: 'shutdown' })).toBe(true);
    send({ type: 'shutdown' });
    expect([orders, isReleased()]).toEqual([[{ type: 'link.kill', facts: crash }], false]);
  });

  it('[M-6] ends with what its owner makes of a loss', () => {
    const { actor, send } = startConnection({ lostOutput: ({ message }) => `failed: ${message}` });
    send({ type: 'link.lost', facts: crash, end });
    expect(actor.getSnapshot().output).toBe('failed: gone');
  });

  it('tells of the process that started and how it ended', () => {
    const { emitted, send } = startConnection();
    send({ type: 'link.started', pid: 7 }, ready, { type: 'link.lost', facts: crash, end });
    expect(emitted).toEqual([
      { type: 'process.started', pid: 7, command: 'server' },
      { type: 'process.exited', reason: 'connection_lost', ...end },
    ]);
  });

  it('[I-4] is lost, and names the slot, when nothing fills it', () => {
    const actor = createActor(connectionMachine, { input: { command: 'server' } });
    actor.start();
    expect(actor.getSnapshot()).toMatchObject({ value: 'crashed', output: { facts: { reason: 'startup_failed' } } });
    expect(JSON.stringify(actor.getSnapshot().output)).toContain('slot `link`');
  });
});
