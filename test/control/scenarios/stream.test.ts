import { Readable } from 'node:stream';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { streamFromRuntime } from '../../../operator/client.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { connect, request, startControl } from '../startControl.ts';

/** A control server with a stream behind `watch`, and a client of it. */
async function startWatch() {
  const sources: Readable[] = [];
  const watch = (): Readable => {
    const source = new Readable({ objectMode: true, read: () => undefined });
    sources.push(source);
    return source;
  };
  const control = await startControl({ methods: { watch, echo: (params) => params }, idleMs: 1000 });
  const answer = await streamFromRuntime(control.path, 'watch', { clock: new SimulatedClock() });
  if (!answer.ok) throw new Error(answer.message);
  const [source] = sources;
  if (source === undefined) throw new Error('no source');
  return { ...control, source, items: answer.items, next: async () => (await once(answer.items, 'data')) as [string] };
}

const closed = (stream: Readable) => new Promise((resolve) => stream.once('close', resolve));

describe('a stream over the control socket', () => {
  it('[L-5] gives each item as it came', async () => {
    const { source, next } = await startWatch();
    source.push('{"type":"@xstate.actor","b":1,"a":[2]}');
    expect(await next()).toEqual(['{"type":"@xstate.actor","b":1,"a":[2]}']);
    source.push('"second"');
    expect(await next()).toEqual(['"second"']);
  });

  it('[L-5] goes on however long nothing is said', async () => {
    const { source, next, clock } = await startWatch();
    await clock.advance(3_600_000);
    source.push('1');
    expect(await next()).toEqual(['1']);
  });

  it('[L-5] lets the runtime go when the client leaves, though nothing is sent', async () => {
    const { source, items } = await startWatch();
    const gone = closed(source);
    items.destroy();
    await gone;
    expect(source.destroyed).toBe(true);
  });

  it('[L-5] lets the runtime go when the client only says that it has no more to ask', async () => {
    const { path, source: first } = await startWatch();
    const client = await connect(path);
    client.send(request(1, 'watch'));
    await client.next();
    client.socket.end();
    await client.closed;
    expect(first.destroyed).toBe(false);
  });

  it('[L-5] ends with the runtime, behind what it has said', async () => {
    const { source, items } = await startWatch();
    source.push('1');
    source.push(null);
    expect(await items.toArray()).toEqual(['1']);
  });

  it('[L-5] ends when the control server closes', async () => {
    const { server, items, source } = await startWatch();
    server.close();
    expect(await items.toArray()).toEqual([]);
    expect(source.destroyed).toBe(true);
  });

  it('[L-5] is read from the runtime no faster than it is read here', async () => {
    const { source, items } = await startWatch();
    const item = JSON.stringify('x'.repeat(1000));
    let pushed = 0;
    while (pushed < 20_000 && source.readableLength < 1000) {
      source.push(item);
      pushed += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(pushed).toBeLessThan(20_000);
    source.push(null);
    expect(await items.toArray()).toHaveLength(pushed);
  });

  it('[L-5] answers nothing else to a client that watches', async () => {
    const { path } = await startWatch();
    const client = await connect(path);
    client.send(request(1, 'watch'), request(2, 'echo', 'x'));
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 1, result: null });
    client.send(request(3, 'echo', 'y'));
    client.socket.end();
    await expect(client.next()).rejects.toThrow('closed');
  });

  it('[L-5] says why there is none', async () => {
    const { path } = await startControl();
    const options = { clock: new SimulatedClock() };
    expect(await streamFromRuntime(path, 'watch', options)).toMatchObject({ ok: false, reason: 'refused' });
    const nowhere = join(temporaryDirectory(), 'none.sock');
    expect(await streamFromRuntime(nowhere, 'watch', options)).toMatchObject({ ok: false, reason: 'absent' });
    expect(await streamFromRuntime('', 'watch', options)).toMatchObject({ ok: false, reason: 'absent' });
  });

  it('[L-5] has to begin within its limit', async () => {
    const { path } = await startControl({ methods: { watch: () => new Promise(() => undefined) } });
    const clock = new SimulatedClock();
    const answer = streamFromRuntime(path, 'watch', { clock, timeoutMs: 500 });
    await clock.advance(500);
    expect(await answer).toEqual({ ok: false, reason: 'timeout', message: 'no answer within 500ms' });
  });
});
