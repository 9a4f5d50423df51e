import { describe, expect, it } from 'vitest';
import { type IncomingRequest, RpcPeer, type RpcPeerListener } from '../../../../agents/codex/rpc/rpcPeer.ts';
import type { RequestEnd } from '../../../../agents/codex/rpc/pendingRequest.ts';
import { AttemptError, type FailureFacts } from '../../../../src/policy/failures/failure.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { isSettled } from '../../../support/deferred.ts';

const lost: FailureFacts = { kind: 'crash', reason: 'connection_lost', message: 'gone', outcome: 'unknown' };

interface PeerOptions extends Partial<RpcPeerListener> {
  readonly writable?: () => boolean;
  readonly clock?: SimulatedClock;
}

function startPeer({ writable = () => true, clock = new SimulatedClock(), ...listener }: PeerOptions = {}) {
  const sent: unknown[] = [];
  const notified: unknown[] = [];
  const asked: IncomingRequest[] = [];
  const strange: string[] = [];
  const ended: RequestEnd[] = [];
  const threw: unknown[] = [];
  const unhealthy: number[] = [];
  let tooLarge = 0;
  const peer = new RpcPeer({
    clock,
    write(line) {
      if (!writable()) return false;
      sent.push(JSON.parse(line));
      return true;
    },
    maxMessageBytes: 1024,
    maxInFlight: 3,
    maxMalformed: 3,
    readError: (cause) => ({ kind: 'permanent', message: cause.message, code: cause.code, outcome: 'failed', cause }),
    listener: {
      notified: (method, params) => notified.push([method, params]),
      asked: (request) => asked.push(request),
      strange: (what, text) => strange.push(`${what}: ${text}`),
      unhealthy: (lines) => unhealthy.push(lines),
      tooLarge: () => tooLarge++,
      ended: (end) => ended.push(end),
      threw: (error) => threw.push(error),
      ...listener,
    },
  });
  const hear = (...messages: unknown[]) =>
    peer.push(Buffer.from(messages.map((each) => `${JSON.stringify(each)}\n`).join('')));
  const write = (text: string) => peer.push(Buffer.from(text));
  return {
    peer,
    clock,
    sent,
    notified,
    asked,
    strange,
    ended,
    threw,
    unhealthy,
    tooLarge: () => tooLarge,
    hear,
    write,
  };
}

const facts = async (promise: Promise<unknown>): Promise<FailureFacts> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AttemptError) return error.facts;
  }
  throw new Error('It was not refused');
};

describe('a request to the other side', () => {
  it('[F-19] is a line without a version, and gets the answer of its id', async () => {
    const { peer, sent, hear } = startPeer();
    const [a, b] = [peer.request('a', { x: 1 }), peer.request('b', undefined)];
    expect(sent).toEqual([
      { id: 1, method: 'a', params: { x: 1 } },
      { id: 2, method: 'b' },
    ]);
    hear({ id: 2, result: 'B' }, { id: 1, result: null });
    expect([await a, await b]).toEqual([null, 'B']);
    expect(peer.inFlight).toBe(0);
  });

  it('[F-19] is not answered by a text that looks like its id, nor twice', async () => {
    const { peer, hear, strange } = startPeer();
    const answer = peer.request('a', {});
    hear({ id: '1', result: 'no' });
    expect(await isSettled(answer)).toBe(false);
    hear({ id: 1, result: 'yes' }, { id: 1, result: 'again' });
    expect(await answer).toBe('yes');
    expect(strange).toEqual(['unknown_answer: id 1', 'unknown_answer: id 1']);
  });

  it('[F-8] that is refused says code, text, data, method and id', async () => {
    const { peer, hear } = startPeer();
    const refused = facts(peer.request('a', {}));
    hear({ id: 1, error: { code: -32_602, message: 'no', data: { why: 1 } } });
    expect(await refused).toMatchObject({
      code: -32_602,
      cause: { name: 'RpcResponseError', data: { why: 1 }, method: 'a', requestId: 1 },
    });
  });

  it('[F-7] ends at its limit and is forgotten; its late answer is dropped', async () => {
    const { peer, clock, hear, strange, ended } = startPeer();
    const late = facts(peer.request('a', {}, { limitMs: 100 }));
    await clock.advance(99);
    expect(peer.inFlight).toBe(1);
    await clock.advance(1);
    expect(await late).toMatchObject({ kind: 'timeout', message: 'No answer to a within 100ms', outcome: 'unknown' });
    expect(peer.inFlight).toBe(0);
    hear({ id: 1, result: 1 });
    expect(strange).toEqual(['unknown_answer: id 1']);
    expect(ended).toMatchObject([{ id: 1, how: 'timeout', elapsedMs: 100 }]);
  });

  it('[G-6] [F-7] has its whole limit in time in which our own event loop ran', async () => {
    const { peer, clock } = startPeer();
    const late = facts(peer.request('a', {}, { limitMs: 100 }));
    await clock.advance(50);
    clock.stall(5000);
    await clock.advance(49);
    expect(peer.inFlight).toBe(1);
    await clock.advance(1);
    expect(await late).toMatchObject({ kind: 'timeout' });
  });

  it('[F-7] is answered by what was in the pipe while the event loop was blocked', async () => {
    // What is in the pipe is read right behind the timers that are due.
    class BusyClock extends SimulatedClock {
      override setTimeout(callback: () => void, delayMs: number) {
        const late = (): void => {
          callback();
          hear({ id: 1, result: 'in time' });
        };
        return super.setTimeout(late, delayMs);
      }
    }
    const { peer, clock, hear } = startPeer({ clock: new BusyClock() });
    const answer = peer.request('a', {}, { limitMs: 100 });
    await clock.advance(5000);
    expect(await answer).toBe('in time');
  });

  it('[R-8] is given up when its signal aborts; an aborted one is not sent', async () => {
    const { peer, sent, clock } = startPeer();
    const controller = new AbortController();
    const given = facts(peer.request('a', {}, { signal: controller.signal, limitMs: 100 }));
    controller.abort('enough');
    expect(await given).toMatchObject({ kind: 'cancelled', outcome: 'cancelled', cause: 'enough' });
    expect(await facts(peer.request('b', {}, { signal: controller.signal }))).toMatchObject({
      kind: 'cancelled',
      outcome: 'not_started',
    });
    expect(sent).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('[F-22] beyond the most that may wait is refused before it is sent', async () => {
    const { peer, sent, hear } = startPeer();
    const waiting = [peer.request('a', {}), peer.request('b', {}), peer.request('c', {})];
    expect(await facts(peer.request('d', {}))).toMatchObject({ kind: 'too_many_requests', outcome: 'not_started' });
    hear({ id: 1, result: 1 });
    await waiting[0];
    void peer.request('e', {});
    expect(sent).toHaveLength(4);
  });

  it('[F-22] [F-9] that ends something is sent all the same, but not after the end', async () => {
    const { peer, sent, write } = startPeer();
    for (const method of ['a', 'b', 'c']) peer.request(method, {}).catch(() => undefined);
    write('x\nx\nx\n');
    peer.request('stop', {}, { urgent: true }).catch(() => undefined);
    expect(sent.at(-1)).toMatchObject({ method: 'stop' });
    peer.close({ kind: 'crash', message: 'over', outcome: 'unknown' });
    expect(await facts(peer.request('stop', {}, { urgent: true }))).toMatchObject({ outcome: 'not_started' });
    expect(sent).toHaveLength(4);
  });

  it('[F-2] ends with the connection, and those that come later are not sent', async () => {
    const { peer, sent, hear, strange, clock } = startPeer();
    const [a, b] = [facts(peer.request('a', {}, { limitMs: 5 })), facts(peer.request('b', {}))];
    peer.close(lost);
    peer.close({ ...lost, message: 'later' });
    expect([await a, await b]).toEqual([lost, lost]);
    expect(await facts(peer.request('c', {}))).toEqual({ ...lost, outcome: 'not_started' });
    hear({ id: 1, result: 1 });
    expect({ sent: sent.length, strange, pending: clock.pending }).toEqual({ sent: 2, strange: [], pending: 0 });
  });

  it('[F-15] that cannot be written is lost, and had no effect', async () => {
    const { peer } = startPeer({ writable: () => false });
    expect(await facts(peer.request('a', {}))).toMatchObject({
      kind: 'crash',
      reason: 'connection_lost',
      outcome: 'not_started',
    });
    expect(peer.inFlight).toBe(0);
  });

  it('whose parameters are no JSON is the mistake of its caller', async () => {
    const { peer } = startPeer();
    expect(await facts(peer.request('a', { big: 1n }))).toMatchObject({ kind: 'permanent', outcome: 'not_started' });
    expect(peer.inFlight).toBe(0);
  });

  it('whose answer cannot be read ends at once', async () => {
    const { peer, hear } = startPeer();
    const broken = facts(peer.request('a', {}));
    hear({ id: 1, error: 'no' });
    expect(await broken).toMatchObject({ kind: 'protocol', outcome: 'unknown' });
  });

  it('may be made by who hears of the end of another', async () => {
    const { peer, hear, sent } = startPeer({ ended: ({ method }) => void (method === 'a' && peer.request('b', {})) });
    const first = peer.request('a', {});
    hear({ id: 1, result: 1 });
    await first;
    expect(sent).toHaveLength(2);
  });
});

describe('what the other side says', () => {
  it('[F-20] is told at once and in order, also while requests wait', () => {
    const { peer, hear, notified } = startPeer();
    void peer.request('a', {});
    hear({ method: 'one', params: {} }, { method: 'two' });
    expect(notified).toEqual([
      ['one', {}],
      ['two', undefined],
    ]);
  });

  it('[F-16] may come in pieces', () => {
    const { peer, notified } = startPeer();
    for (const byte of Buffer.from('{"method":"grüße"}\n')) peer.push(Buffer.of(byte));
    expect(notified).toEqual([['grüße', undefined]]);
  });

  it('[F-16] without a line end is a message when the stream ends, or is kept for the diagnosis', () => {
    const whole = startPeer();
    whole.write('{"method":"last"}');
    whole.peer.end();
    expect(whole.notified).toEqual([['last', undefined]]);
    const part = startPeer();
    part.write('{"method":"la');
    part.peer.end();
    expect(part.strange).toEqual(['partial: {"method":"la']);
    expect(part.unhealthy).toEqual([]);
  });

  it('[F-9] makes it unhealthy when so many lines in a row are no messages, once; a message makes it well again', async () => {
    const { peer, write, hear, unhealthy, strange } = startPeer();
    write('x\nx\n');
    hear({ method: 'fine' });
    write('x\n\n[1]\n');
    expect(peer.healthy).toBe(true);
    write('x\nx\n');
    expect({ healthy: peer.healthy, unhealthy }).toEqual({ healthy: false, unhealthy: [3] });
    expect(await facts(peer.request('a', {}))).toMatchObject({ kind: 'unavailable', outcome: 'not_started' });
    expect(strange).toHaveLength(6);
    hear({ method: 'fine' });
    expect(peer.healthy).toBe(true);
  });

  it('[F-18] is too large above its bound, and is not kept', () => {
    const { write, tooLarge, notified } = startPeer();
    write(`{"method":"${'x'.repeat(1024 - 13)}"}\n`);
    expect({ tooLarge: tooLarge(), notified: notified.length }).toEqual({ tooLarge: 0, notified: 1 });
    write(`{"method":"${'x'.repeat(1024 - 12)}"}\n`);
    expect({ tooLarge: tooLarge(), notified: notified.length }).toEqual({ tooLarge: 1, notified: 1 });
  });

  it('[I-4] reaches nobody after the end, and a callback that throws is told', () => {
    const { peer, hear, threw } = startPeer({
      notified() {
        throw new Error('mine');
      },
    });
    hear({ method: 'one' });
    expect(threw).toMatchObject([{ message: 'mine' }]);
    peer.close(lost);
    hear({ method: 'two' });
    expect(threw).toHaveLength(1);
  });
});

describe('a request of the other side', () => {
  it.each([0, 7, '0', 'a'])('[H-4] of id %j is answered under it, once', (id) => {
    const { hear, asked, sent } = startPeer();
    hear({ id, method: 'ask', params: { x: 1 } });
    expect(asked).toMatchObject([{ id, method: 'ask', params: { x: 1 } }]);
    expect(asked[0]?.answer({ decision: 'accept' })).toBe(true);
    expect(asked[0]?.answer({ decision: 'decline' })).toBe(false);
    expect(asked[0]?.fail({ code: 1, message: 'no' })).toBe(false);
    expect(sent).toEqual([{ id, result: { decision: 'accept' } }]);
  });

  it('is answered with an error when its answer is no JSON', () => {
    const { hear, asked, sent } = startPeer();
    hear({ id: 1, method: 'ask' });
    expect(asked[0]?.answer({ big: 1n })).toBe(true);
    expect(sent).toMatchObject([{ id: 1, error: { code: -32_603 } }]);
  });

  it('[F-15] is not answered when nobody reads', () => {
    let open = true;
    const { hear, asked, peer } = startPeer({ writable: () => open });
    hear({ id: 1, method: 'ask' }, { id: 2, method: 'ask' });
    open = false;
    expect(asked[0]?.answer({})).toBe(false);
    open = true;
    peer.close(lost);
    expect(asked[1]?.answer({})).toBe(false);
  });
});
