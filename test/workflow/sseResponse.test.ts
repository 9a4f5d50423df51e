import { serve as serveHono } from '@hono/node-server';
import { Hono } from 'hono';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { serverSentEvents } from '../../workflow/sseResponse.ts';
import { ScriptedRun } from './scriptedRun.ts';
import { connect, idsIn, toldIn } from './sseClient.ts';

/** A reader of the body that reads when the test says so. */
function reader(response: Response) {
  const { body } = response;
  if (body === null) throw new Error('There is no body');
  const inner = (body as ReadableStream<Uint8Array>).getReader();
  return {
    read: async () => new TextDecoder().decode((await inner.read()).value),
    cancel: () => inner.cancel(),
    closed: inner.closed,
  };
}

describe('the events of a run as a response', () => {
  it('[W-1] have the agreed form and its headers', async () => {
    const run = new ScriptedRun();
    run.tell({ type: 'workflow_fallback', data: { from: 'a', to: 'b', reason: 'timeout' } });
    const response = await serverSentEvents(run, { clock: new SimulatedClock() });
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    expect(await reader(response).read()).toBe(
      'id: 1\ndata: {"type":"workflow_fallback","data":{"from":"a","to":"b","reason":"timeout"}}\n\n',
    );
  });

  it('end with the run, and leave no timer', async () => {
    const run = new ScriptedRun();
    const clock = new SimulatedClock();
    const response = await serverSentEvents(run, { clock });
    run.item('a');
    run.end();
    expect(idsIn(await response.text())).toEqual([1, 2]);
    expect([clock.pending, run.readers]).toEqual([0, 0]);
  });

  it('go on after the last event that a client has, also of a run that is over', async () => {
    const run = new ScriptedRun();
    run.item('a');
    run.end();
    const response = await serverSentEvents(run, { lastEventId: '1', clock: new SimulatedClock() });
    expect(idsIn(await response.text())).toEqual([2]);
    expect((await serverSentEvents(run, { lastEventId: '2' })).status).toBe(204);
  });

  it('are read no faster than the client takes them, which is told what it missed', async () => {
    const run = new ScriptedRun();
    const body = reader(await serverSentEvents(run, { clock: new SimulatedClock() }));
    run.item('first');
    await new Promise(setImmediate);
    for (let count = 0; count < 1_500; count++) run.item(`i${count}`);
    expect(idsIn(await body.read())).toEqual([1]);
    expect(toldIn(await body.read())[0]).toEqual({ type: 'workflow_missed', data: { from: 2, to: 501 } });
  });

  it('[I-3] stop when the body is cancelled; the run goes on', async () => {
    const run = new ScriptedRun();
    const clock = new SimulatedClock();
    const body = reader(await serverSentEvents(run, { clock }));
    await body.cancel();
    expect([clock.pending, run.readers]).toEqual([0, 0]);
    run.item('a');
  });

  it('say every 15 s that somebody is there', async () => {
    const clock = new SimulatedClock();
    const body = reader(await serverSentEvents(new ScriptedRun(), { clock }));
    const first = body.read();
    await clock.advance(15_000);
    expect(await first).toBe(':\n\n');
  });

  it('[I-3] stop when nobody reads them for a minute', async () => {
    const run = new ScriptedRun();
    const clock = new SimulatedClock();
    const body = reader(await serverSentEvents(run, { clock }));
    run.item('a');
    run.item('b');
    await clock.advance(59_999);
    expect(run.readers).toBe(1);
    await clock.advance(1);
    expect([clock.pending, run.readers]).toEqual([0, 0]);
    await expect(body.closed).rejects.toThrow('Nobody reads the events');
  });

  it('go on for a client that reads now and then', async () => {
    const run = new ScriptedRun();
    const clock = new SimulatedClock();
    const body = reader(await serverSentEvents(run, { clock }));
    for (let count = 0; count < 20; count++) run.item(`i${count}`);
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(44_000);
      expect(idsIn(await body.read())).toEqual([minute + 1]);
    }
  });

  it('are served by Hono, to a client that goes and comes back', async () => {
    const run = new ScriptedRun();
    const app = new Hono();
    app.get('/', (c) => serverSentEvents(run, { lastEventId: c.req.header('last-event-id') ?? null }));
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const first = await connect(url);
    run.item('a');
    await first.events(1);
    first.leave();
    run.item('b');
    const second = await connect(url, '1');
    run.end();
    expect(idsIn(await second.ended)).toEqual([2, 3]);
  });
});
