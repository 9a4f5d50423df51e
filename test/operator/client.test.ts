import { createServer } from 'node:net';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askInTurn, askRuntime } from '../../operator/client.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { startControl } from '../control/startControl.ts';

const ask = (path: string, method = 'echo', params: unknown = { name: 'kb' }) =>
  askRuntime(path, method, params, { clock: new SimulatedClock() });

/** Something that listens and answers every chunk with `answer`, or with silence. */
async function startPeer(answer?: string): Promise<string> {
  const path = join(temporaryDirectory(), 'peer.sock');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      if (answer === '') socket.destroy();
      else if (answer !== undefined) socket.write(answer);
    });
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return path;
}

describe('asking a live runtime', () => {
  it('[L-5] gives the value of its answer', async () => {
    const { path } = await startControl();
    expect(await ask(path)).toEqual({ ok: true, value: { name: 'kb' } });
  });

  it('[L-5] says that nobody is there', async () => {
    for (const path of ['/nonexistent/one.sock', ''])
      expect(await ask(path)).toEqual({ ok: false, reason: 'absent', message: 'nobody listens' });
  });

  it('gives the message of a refusal', async () => {
    const { path } = await startControl();
    expect(await ask(path, 'none')).toMatchObject({ ok: false, reason: 'refused', message: /known: echo/ });
  });

  it('ends at its limit, not before', async () => {
    const path = await startPeer();
    const clock = new SimulatedClock();
    let answer: unknown;
    const asked = askRuntime(path, 'tree', undefined, { clock, timeoutMs: 2000 }).then((value) => (answer = value));
    await clock.advance(1999);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    expect(await asked).toEqual({ ok: false, reason: 'timeout', message: 'no answer within 2s' });
  });

  it.each([
    ['closes', ''],
    ['answers nonsense', 'nonsense\n'],
    ['asks in turn', '{"id":1,"method":"tree"}\n'],
  ])('is lost when the other side %s', async (_, answer) => {
    expect(await ask(await startPeer(answer))).toMatchObject({ ok: false, reason: 'lost' });
  });

  it('reads an answer that comes in pieces', async () => {
    const { path } = await startControl();
    const long = 'ü'.repeat(2 ** 14);
    expect(await ask(path, 'echo', long)).toEqual({ ok: true, value: long });
  });
});

describe('asking a live runtime many things', () => {
  const clock = new SimulatedClock();

  it('[L-6] takes one of its places, however many they are, and has each answer at its place', async () => {
    const { path } = await startControl({ maxClients: 1 });
    const params = Array.from({ length: 40 }, (_, index) => ({ index }));
    const answers = await askInTurn(path, 'echo', params, { clock });
    expect(answers).toEqual(params.map((value) => ({ ok: true, value })));
  });

  it('[L-6] goes on after a refusal, and fails all that is left with the connection', async () => {
    const methods = { pick: (params: unknown) => (params === 'bad' ? Promise.reject(new Error('no')) : params) };
    const { path } = await startControl({ methods });
    const answers = await askInTurn(path, 'pick', [1, 'bad', 2], { clock });
    expect(answers).toEqual([
      { ok: true, value: 1 },
      { ok: false, reason: 'refused', message: 'no' },
      { ok: true, value: 2 },
    ]);
    const lost = { ok: false, reason: 'lost', message: 'the connection was closed' };
    expect(await askInTurn(await startPeer(''), 'pick', [1, 2], { clock })).toEqual([lost, lost]);
    expect(await askInTurn('', 'pick', [1], { clock })).toMatchObject([{ reason: 'absent' }]);
  });

  it('[L-6] gives each answer the whole limit', async () => {
    const requests = new EventEmitter();
    let settle: (value: string) => void = () => undefined;
    const wait = () =>
      new Promise((resolve) => {
        settle = resolve;
        requests.emit('asked');
      });
    const time = new SimulatedClock();
    const { path } = await startControl({ methods: { wait } });
    const asked = askInTurn(path, 'wait', [1, 2, 3], { clock: time, timeoutMs: 2000 });
    await once(requests, 'asked');
    await time.advance(1999);
    settle('one');
    await once(requests, 'asked');
    await time.advance(1999);
    await time.advance(1);
    const timeout = { ok: false, reason: 'timeout', message: 'no answer within 2s' };
    expect(await asked).toEqual([{ ok: true, value: 'one' }, timeout, timeout]);
  });
});
