import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deferred } from '../support/deferred.ts';
import { connect, request, startControl } from './startControl.ts';

const code = (value: number) => ({ error: { code: value } });

describe('the control server', () => {
  it('[L-5] [Q-6] listens on a socket that its user alone may open', async () => {
    const { path, ready } = await startControl();
    expect(ready).toEqual({ ok: true });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(path))).toEqual(['one.sock']);
  });

  it('[L-5] answers requests in their order, with their ids', async () => {
    const { path } = await startControl({
      methods: { later: () => Promise.resolve('late'), echo: (params) => params },
    });
    const client = await connect(path);
    client.send(request(0, 'later'), request('a', 'echo', { name: 'kb' }));
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 0, result: 'late' });
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 'a', result: { name: 'kb' } });
  });

  it('[L-5] answers an error when a method throws, rejects, or gives what JSON cannot hold', async () => {
    const { path } = await startControl({
      methods: {
        misuse: () => {
          throw new RangeError('no such name');
        },
        broken: () => Promise.reject(new Error('boom')),
        cyclic: () => {
          const node: Record<string, unknown> = {};
          node['node'] = node;
          return node;
        },
        fine: () => 1,
      },
    });
    const client = await connect(path);
    client.send(request(1, 'misuse'), request(2, 'broken'), request(3, 'cyclic'), request(4, 'fine'));
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32_602, message: 'no such name' } });
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32_603, message: 'boom' } });
    expect(await client.next()).toMatchObject({ id: 3, ...code(-32_603) });
    expect(await client.next()).toMatchObject({ id: 4, result: 1 });
  });

  it('[L-5] answers an error to what is no request, and goes on', async () => {
    const { path } = await startControl();
    const client = await connect(path);
    client.send(
      'tree',
      '[]',
      request(1, 'toString'),
      '{"method":"echo"}',
      '{"id":9,"result":1}',
      request(2, 'echo', 1),
    );
    expect(await client.next()).toMatchObject({ id: null, ...code(-32_700) });
    expect(await client.next()).toMatchObject({ id: null, ...code(-32_600) });
    expect(await client.next()).toMatchObject({ id: 1, ...code(-32_601) });
    expect(await client.next()).toMatchObject({ id: 2, result: 1 });
  });

  it('[L-5] lets a client go whose line is too long, after the error', async () => {
    const { path } = await startControl({ maxLineBytes: 100 });
    const [one, two] = [await connect(path), await connect(path)];
    one.send(request(1, 'echo', 'x'.repeat(100 - request(1, 'echo', '').length)));
    expect(await one.next()).toMatchObject({ id: 1 });
    two.send('x'.repeat(101));
    expect(await two.next()).toMatchObject({ id: null, ...code(-32_600) });
    await two.closed;
  });

  it('[L-5] lets a client go that does not finish a request in time', async () => {
    const { path, clock } = await startControl({ idleMs: 30_000 });
    const client = await connect(path);
    client.send(request(1, 'echo'));
    await client.next();
    client.socket.write('{"id":');
    await clock.advance(29_999);
    expect(client.socket.destroyed).toBe(false);
    await clock.advance(1);
    await client.closed;
  });

  it('[L-5] lets a client go that asks for nothing', async () => {
    const { path, clock } = await startControl({ idleMs: 30_000 });
    const [client, other] = [await connect(path), await connect(path)];
    other.send(request(1, 'echo'));
    await other.next();
    await clock.advance(29_999);
    expect(client.socket.destroyed).toBe(false);
    await clock.advance(1);
    await client.closed;
  });

  it('[L-5] holds one answer for a client that does not read, and lets it go in time', async () => {
    let asked = 0;
    const { path, clock } = await startControl({
      methods: {
        tree: () => {
          asked += 1;
          return 'x'.repeat(2 ** 24);
        },
      },
      idleMs: 30_000,
    });
    const client = await connect(path);
    client.socket.pause();
    client.send(...Array.from({ length: 100 }, (_, id) => request(id, 'tree')));
    const other = await connect(path);
    other.send(request(1, 'none'));
    await other.next();
    expect(asked).toBe(1);
    await clock.advance(30_000);
    client.socket.resume();
    await client.closed;
    expect(asked).toBe(1);
  });

  it('gives a method the time it takes', async () => {
    const answer = deferred<string>();
    const { path, clock } = await startControl({ methods: { slow: () => answer.promise }, idleMs: 30_000 });
    const client = await connect(path);
    const other = await connect(path);
    client.send(request(1, 'slow'));
    other.send(request(1, 'none'));
    await other.next();
    await clock.advance(60_000);
    answer.resolve('done');
    expect(await client.next()).toMatchObject({ result: 'done' });
  });

  it('survives a client that leaves without its answer', async () => {
    const answer = deferred<string>();
    const asked = deferred<void>();
    const { path } = await startControl({
      methods: {
        slow: () => {
          asked.resolve();
          return answer.promise;
        },
        echo: (params) => params,
      },
    });
    const client = await connect(path);
    client.send(request(1, 'slow'));
    await asked.promise;
    client.socket.destroy();
    await client.closed;
    answer.resolve('x'.repeat(2 ** 20));
    const next = await connect(path);
    next.send(request(2, 'echo', 1));
    expect(await next.next()).toMatchObject({ id: 2, result: 1 });
  });

  it('[L-5] takes so many clients and tells the next one', async () => {
    const { path } = await startControl({ maxClients: 2 });
    const first = await connect(path);
    first.send(request(1, 'echo'));
    await first.next();
    const second = await connect(path);
    second.send(request(1, 'echo'));
    await second.next();
    const third = await connect(path);
    expect(await third.next()).toMatchObject({ error: { message: 'This runtime has 2 clients already' } });
    await third.closed;
    first.socket.destroy();
    await first.closed;
    second.send(request(2, 'echo'));
    await second.next();
    const fourth = await connect(path);
    fourth.send(request(1, 'echo'));
    expect(await fourth.next()).toMatchObject({ id: 1 });
  });

  it('[L-5] removes its socket and lets clients go when it is closed', async () => {
    const { server, path } = await startControl();
    const client = await connect(path);
    server.close();
    expect(existsSync(path)).toBe(false);
    await client.closed;
  });

  it('is closed also before it listens', async () => {
    const { server, ready, path } = await startControl();
    expect(ready.ok).toBe(true);
    server.close();
    expect(() => server.close()).not.toThrow();
    expect(existsSync(path)).toBe(false);
  });

  it('says what keeps it from listening', async () => {
    const { path } = await startControl();
    const under = join(path, 'two.sock');
    expect((await startControl({ path: under })).ready).toMatchObject({ ok: false, error: { code: 'ENOTDIR' } });
  });
});
