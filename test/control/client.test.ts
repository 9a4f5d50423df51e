import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askRuntime } from '../../src/control/client.ts';
import { SimulatedClock } from '../../src/testing/simulatedClock.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { startControl } from './startControl.ts';

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
