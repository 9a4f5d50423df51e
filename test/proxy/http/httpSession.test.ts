import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { HttpSession } from '../../../proxy/http/httpSession.ts';
import { readMessage } from '../../../src/protocol/mcp/message.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** A response that is read at once, or not at all. */
class Response extends EventEmitter {
  status = 0;
  writableNeedDrain = false;
  writableLength = 0;
  writeHead(status: number): this {
    this.status = status;
    return this;
  }
  flushHeaders(): void {
    // Nobody waits for them.
  }
  write(): boolean {
    return !this.writableNeedDrain;
  }
  end(): void {
    this.emit('close');
  }
  destroy(): void {
    this.emit('close');
  }
}

function start(alone = true) {
  const clock = new SimulatedClock();
  let ended = 0;
  const session = new HttpSession({
    id: 'it',
    clock,
    idleMs: 60_000,
    alone,
    connect: () => ({ send: () => undefined, end: () => undefined, closed: new Promise(() => undefined) }),
    ended: () => ended++,
  });
  const post = async (id: number): Promise<Response> => {
    const response = new Response();
    const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: {} });
    const message = readMessage(text);
    if (message.kind !== 'batch') await session.post([message], text, response as unknown as ServerResponse);
    return response;
  };
  const answer = (id: number): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', id, result: {} });
    const message = readMessage(text);
    if (message.kind !== 'batch') session.heard(message, text);
  };
  return { clock, session, post, answer, ended: () => ended };
}

describe('a session', () => {
  it('[P-5] goes on while a call is under way, also when its client is gone', async () => {
    const { clock, post, answer, ended } = start();
    (await post(1)).emit('close');
    await clock.advance(600_000);
    expect(ended()).toBe(0);
    answer(1);
    await clock.advance(59_999);
    expect(ended()).toBe(0);
    await clock.advance(1);
    expect(ended()).toBe(1);
  });

  it('[P-5] has 1,000 requests without an answer at most', async () => {
    const { clock, post, answer } = start();
    const taken = [];
    for (let id = 1; id <= 1000; id++) taken.push(await post(id));
    expect((await post(1001)).status).toBe(503);
    answer(1);
    taken.push(await post(1002));
    await clock.advance(50);
    expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 200));
  });

  it.each([
    ['holds up a server of its own', true],
    ['does not hold up one that others share', false],
  ])('[P-5] that does not read %s', async (_, alone) => {
    const { session, post } = start(alone);
    expect(session.room()).toBeUndefined();
    const response = await post(1);
    response.writableNeedDrain = true;
    const room = session.room();
    expect(room !== undefined).toBe(alone);
    response.writableNeedDrain = false;
    response.emit('drain');
    await room;
  });

  it('[P-5] is one that its client has left when it had a stream, and has none and asks for nothing', async () => {
    const { clock, session, post, answer } = start();
    expect(session.leftAt).toBeUndefined();
    const standing = new Response();
    session.get({}, standing as unknown as ServerResponse);
    expect(session.leftAt).toBeUndefined();
    await clock.advance(10);
    standing.emit('close');
    expect(session.leftAt).toBe(clock.now());
    await post(1);
    expect(session.leftAt).toBeUndefined();
    answer(1);
    expect(session.leftAt).toBe(clock.now());
  });
});
