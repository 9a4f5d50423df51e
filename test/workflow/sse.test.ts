import { PassThrough, Writable, type WritableOptions } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { type ServerSentEventsEnd, writeServerSentEvents } from '../../workflow/sse.ts';
import type { ServerSentEventOptions } from '../../workflow/sseOptions.ts';
import { deferred, isSettled } from '../support/deferred.ts';
import { ScriptedRun } from './scriptedRun.ts';
import { connect, eventsIn, idsIn, serve, toldIn } from './sseClient.ts';

const fallback = { from: 'claude', to: 'codex', reason: 'Circuit breaker OPEN - too many recent failures' };

async function frontend(run: ScriptedRun, options: ServerSentEventOptions = {}) {
  const ends: ServerSentEventsEnd[] = [];
  const written = deferred<ServerSentEventsEnd>();
  const url = await serve((request, response) => {
    const lastEventId = request.headers['last-event-id'];
    void writeServerSentEvents(run, response, { lastEventId, ...options }).then((end) => {
      ends.push(end);
      written.resolve(end);
    });
  });
  return { url, ends, written: written.promise };
}

/** A client of which the test says when it reads: it holds one write at a time. */
class SlowClient extends Writable {
  readonly texts: string[] = [];
  flushed = 0;
  #read: ((error?: Error) => void) | undefined;

  constructor(options: WritableOptions = {}) {
    super({ highWaterMark: 1, decodeStrings: false, ...options });
  }

  override _write(chunk: string, _encoding: string, done: (error?: Error) => void): void {
    this.texts.push(chunk);
    this.#read = done;
  }

  reads(): void {
    this.#read?.();
  }

  flush(): void {
    this.flushed++;
  }

  fails(): void {
    this.#read?.(new Error('EPIPE'));
  }

  countListeners(): number {
    return this.eventNames().reduce((sum, name) => sum + this.listenerCount(name), 0);
  }
}

function slowly(run: ScriptedRun, options: WritableOptions = {}) {
  const clock = new SimulatedClock();
  const client = new SlowClient(options);
  const before = client.countListeners();
  const end = writeServerSentEvents(run, client, { clock });
  return { clock, client, end, added: () => client.countListeners() - before };
}

describe('the events of a run for a frontend', () => {
  it('[W-1] say a fallback in one frame of the agreed form', async () => {
    const run = new ScriptedRun();
    run.tell({ type: 'workflow_fallback', data: fallback });
    const { events } = await connect((await frontend(run)).url);
    expect(await events(1)).toEqual([
      `id: 1\ndata: {"type":"workflow_fallback","data":{"from":"claude","to":"codex","reason":"${fallback.reason}"}}`,
    ]);
  });

  it('keep a text of several lines in one line of data', async () => {
    const run = new ScriptedRun();
    run.end('one\ntwo\r\n\r\ndata: three');
    const { ended } = await connect((await frontend(run)).url);
    expect(toldIn(await ended)).toMatchObject([{ data: { message: 'one\ntwo\r\n\r\ndata: three' } }]);
  });

  it('are said to be events, for nobody to keep or collect', async () => {
    const { headers, status } = await connect((await frontend(new ScriptedRun())).url);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  });

  it('are said to be events of a run that is over too', async () => {
    const run = new ScriptedRun();
    run.end();
    const { headers } = await connect((await frontend(run)).url);
    expect(headers['content-type']).toBe('text/event-stream');
  });

  it('leave headers alone that are on their way', async () => {
    const run = new ScriptedRun();
    const url = await serve((_request, response) => {
      response.writeHead(201, { 'content-type': 'text/plain' });
      void writeServerSentEvents(run, response);
    });
    run.end();
    const { status, headers, ended } = await connect(url);
    expect([status, headers['content-type'], toldIn(await ended).length]).toEqual([201, 'text/plain', 1]);
  });

  it('end with the run', async () => {
    const run = new ScriptedRun();
    const { url, written } = await frontend(run);
    const { ended } = await connect(url);
    run.item('a');
    run.end();
    expect(idsIn(await ended)).toEqual([1, 2]);
    expect(await written).toEqual({ delivered: 2, reason: 'ended' });
  });

  it('[W-1] go on after the last event that a client has', async () => {
    const run = new ScriptedRun();
    for (const id of ['a', 'b', 'c']) run.item(id);
    const { events } = await connect((await frontend(run)).url, '2');
    expect(await events(1)).toEqual([expect.stringContaining('"id":"c"')]);
  });

  it('go on after the last of several ids', async () => {
    const run = new ScriptedRun();
    for (const id of ['a', 'b', 'c']) run.item(id);
    run.end();
    const { ended } = await connect((await frontend(run, { lastEventId: ['1', '3'] })).url);
    expect(idsIn(await ended)).toEqual([4]);
  });

  it('are pushed through what compresses them, comments too', async () => {
    const run = new ScriptedRun();
    const { client, clock } = slowly(run);
    run.item('a');
    await clock.settle();
    expect(client.flushed).toBe(1);
    client.reads();
    await clock.advance(15_000);
    expect(client.flushed).toBe(2);
  });

  it.each(['', 'three', '-1', '1.5', '1e0', ' 1', '9'.repeat(400), 'Infinity'])(
    'begin at the start after the id %j, which is none',
    async (lastEventId) => {
      const run = new ScriptedRun();
      run.item('a');
      run.end();
      const { ended } = await connect((await frontend(run, { lastEventId })).url);
      expect(idsIn(await ended)).toEqual([1, 2]);
    },
  );

  it('say what is no longer kept', async () => {
    const run = new ScriptedRun();
    for (let count = 0; count < 1_010; count++) run.item(`i${count}`);
    const { events } = await connect((await frontend(run)).url, '3');
    const [gap, next] = await events(2);
    expect(gap).toBe('id: 10\ndata: {"type":"workflow_missed","data":{"from":4,"to":10}}');
    expect(next).toMatch(/^id: 11\n/);
  });

  it('answer 204 to a client that has seen the end, so that it stays away', async () => {
    const run = new ScriptedRun();
    run.end();
    const { url, written } = await frontend(run);
    const { status, ended } = await connect(url, '1');
    expect([status, await ended]).toEqual([204, '']);
    expect(await written).toEqual({ delivered: 0, reason: 'ended' });
  });
});

describe('a client that goes away', () => {
  it('[W-1] ends the writing and not the run; it gets the rest when it comes back', async () => {
    const run = new ScriptedRun();
    const { url, written, ends } = await frontend(run);
    const first = await connect(url);
    run.item('a');
    await first.events(1);
    first.leave();
    expect(await written).toEqual({ delivered: 1, reason: 'client_gone' });
    expect(run.readers).toBe(0);
    run.item('b');
    const second = await connect(url, String(idsIn(first.text()).at(-1)));
    run.end();
    expect(idsIn(await second.ended)).toEqual([2, 3]);
    expect(ends.at(-1)).toEqual({ delivered: 2, reason: 'ended' });
  });

  it('[I-3] leaves no timer and no listener', async () => {
    const run = new ScriptedRun();
    const { client, clock, end, added } = slowly(run);
    run.item('a');
    await clock.settle();
    expect([clock.pending, run.readers]).toEqual([1, 1]);
    client.destroy();
    expect(await end).toEqual({ delivered: 1, reason: 'client_gone' });
    expect([clock.pending, run.readers, added()]).toEqual([0, 0, 0]);
  });

  it('is noticed when it had gone before', async () => {
    const run = new ScriptedRun();
    const gone = new PassThrough();
    gone.destroy();
    await new Promise((resolve) => gone.once('close', resolve));
    expect(await writeServerSentEvents(run, gone)).toEqual({ delivered: 0, reason: 'client_gone' });
    expect([run.readers, gone.listenerCount('error'), gone.listenerCount('close')]).toEqual([0, 0, 0]);
  });

  it.each(['EPIPE', 'ECONNRESET'])('with %s is no error of anybody', async (code) => {
    const { client, end, added } = slowly(new ScriptedRun());
    client.destroy(Object.assign(new Error(code), { code }));
    expect(await end).toEqual({ delivered: 0, reason: 'client_gone' });
    await new Promise(setImmediate);
    expect(added()).toBe(0);
  });

  it('may be a response that somebody else ended', async () => {
    const run = new ScriptedRun();
    const { client, clock, end } = slowly(run);
    client.end();
    run.item('a');
    await clock.settle();
    expect(await end).toEqual({ delivered: 0, reason: 'client_gone' });
  });

  it('may be a response that somebody else ended, though nothing more happens', async () => {
    const { client, end } = slowly(new ScriptedRun());
    client.end();
    expect(await end).toEqual({ delivered: 0, reason: 'client_gone' });
  });

  it('may be a response that was ended or had failed before', async () => {
    const over = new SlowClient();
    over.write('x');
    over.end();
    const failed = new SlowClient({ autoDestroy: false });
    failed.on('error', () => undefined);
    failed.write('x');
    failed.fails();
    await new Promise(setImmediate);
    for (const response of [over, failed]) {
      expect(await writeServerSentEvents(new ScriptedRun(), response)).toEqual({ delivered: 0, reason: 'client_gone' });
    }
  });

  it('[I-3] leaves only what hears of errors on a response that does not say that it has closed', async () => {
    const run = new ScriptedRun();
    const { client, clock, end, added } = slowly(run, { emitClose: false });
    run.item('a');
    await clock.advance(60_000);
    expect(await end).toEqual({ delivered: 1, reason: 'client_gone' });
    expect([client.destroyed, client.listenerCount('error'), added()]).toEqual([true, 1, 2]);
  });

  it('may be a response that throws', async () => {
    const run = new ScriptedRun();
    const client = new SlowClient();
    client.write = () => {
      throw new Error('no');
    };
    run.item('a');
    expect((await writeServerSentEvents(run, client)).reason).toBe('client_gone');
    expect(run.readers).toBe(0);
  });

  it('may go after the run has ended, before it read the end', async () => {
    const run = new ScriptedRun();
    const { client, clock, end } = slowly(run);
    run.end();
    await clock.settle();
    expect(await isSettled(end)).toBe(false);
    client.destroy();
    expect(await end).toEqual({ delivered: 1, reason: 'client_gone' });
    expect(clock.pending).toBe(0);
  });
});

describe('a client with nothing to read', () => {
  it('gets a comment every 15 s', async () => {
    const { clock, client } = slowly(new ScriptedRun());
    await clock.advance(14_999);
    expect(client.texts).toEqual([]);
    await clock.advance(1);
    expect(client.texts).toEqual([':\n\n']);
    client.reads();
    await clock.advance(15_000);
    expect(client.texts.length).toBe(2);
  });

  it('gets none any more while it reads the end', async () => {
    const run = new ScriptedRun();
    const { clock, client, end } = slowly(run, { highWaterMark: 10_000 });
    run.end();
    await clock.advance(45_000);
    expect(await isSettled(end)).toBe(false);
    client.reads();
    expect(await end).toEqual({ delivered: 1, reason: 'ended' });
    expect(client.texts.length).toBe(1);
  });

  it('gets none any more when the run has ended', async () => {
    const run = new ScriptedRun();
    const { clock, client, end } = slowly(run);
    run.end();
    await clock.settle();
    client.reads();
    expect(await end).toEqual({ delivered: 1, reason: 'ended' });
    expect(clock.pending).toBe(0);
    expect(eventsIn(client.texts.join('')).length).toBe(client.texts.length);
  });
});

describe('a client that reads slowly', () => {
  it('is written to only when it has read', async () => {
    const run = new ScriptedRun();
    const { clock, client } = slowly(run);
    for (let count = 0; count < 50; count++) run.item(`i${count}`);
    await clock.settle();
    expect([client.texts.length, client.writableLength]).toEqual([1, client.texts[0]?.length]);
    client.reads();
    await clock.settle();
    expect(client.texts.length).toBe(2);
  });

  it('is told what it was too slow for', async () => {
    const run = new ScriptedRun();
    const { clock, client } = slowly(run);
    run.item('first');
    await clock.settle();
    for (let count = 0; count < 1_500; count++) run.item(`i${count}`);
    client.reads();
    await clock.settle();
    expect(toldIn(client.texts[1] ?? '')[0]).toEqual({ type: 'workflow_missed', data: { from: 2, to: 501 } });
  });

  it('counts as gone when it takes nothing for a minute', async () => {
    const run = new ScriptedRun();
    const { clock, client, end } = slowly(run);
    run.item('a');
    await clock.advance(59_999);
    expect(await isSettled(end)).toBe(false);
    await clock.advance(1);
    expect(await end).toEqual({ delivered: 1, reason: 'client_gone' });
    expect([client.destroyed, clock.pending, run.readers]).toEqual([true, 0, 0]);
  });

  it('stays when it takes only every other comment', async () => {
    const { clock, client, end } = slowly(new ScriptedRun());
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(30_000);
      client.reads();
    }
    expect(await isSettled(end)).toBe(false);
  });

  it('stays when it takes something now and then', async () => {
    const run = new ScriptedRun();
    const { clock, client, end } = slowly(run);
    for (let count = 0; count < 20; count++) run.item(`i${count}`);
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(44_000);
      client.reads();
    }
    expect(await isSettled(end)).toBe(false);
  });
});

describe('wrong arguments', () => {
  it('are named at once', () => {
    const run = new ScriptedRun();
    const client = new SlowClient();
    expect(() => writeServerSentEvents(run, client, { heartbeatMs: 0 })).toThrow(
      'Expected `heartbeatMs` to be a duration above 0 (ms, or text such as 30s), got 0',
    );
    expect(() => writeServerSentEvents(run, client, { lastEvent: '1' } as never)).toThrow('did you mean lastEventId?');
    expect(() => writeServerSentEvents({} as never, client)).toThrow('Expected `run.events` to be a function');
    expect(() => writeServerSentEvents(run, {} as never)).toThrow('Expected `response.write` to be a function');
  });
});
