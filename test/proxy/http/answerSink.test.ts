import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { AnswerSink } from '../../../proxy/http/answerSink.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** A response of which nobody reads a byte until the test says so. */
class Unread extends EventEmitter {
  writableLength = 0;
  readonly written: string[] = [];
  destroyed = false;
  ended = false;
  type: unknown = undefined;
  writeHead(_: number, headers: Readonly<Record<string, unknown>>): this {
    this.type = headers['Content-Type'];
    return this;
  }
  end(): void {
    this.ended = true;
  }
  flushHeaders(): void {
    // Nothing is there to be sent.
  }
  write(text: string): boolean {
    this.written.push(text);
    this.writableLength += text.length;
    return !this.writableNeedDrain;
  }
  get writableNeedDrain(): boolean {
    return this.writableLength > 16_384;
  }
  destroy(): void {
    this.destroyed = true;
  }
  read(): void {
    this.writableLength = 0;
    this.emit('drain');
  }
}

function start(first?: string, as: 'stream' | 'either' | 'soon' = 'stream') {
  const clock = new SimulatedClock();
  const response = new Unread();
  const told: string[] = [];
  const sink = new AnswerSink({
    clock,
    response: response as unknown as ServerResponse,
    as,
    first,
    left: () => told.push('left'),
    drained: () => told.push('drained'),
  });
  return { clock, response, told, sink };
}

describe('a stream that can be resumed', () => {
  it('[P-5] says where to go on from, and not before when', () => {
    const { response, sink } = start('3-0');
    expect(response.written).toEqual(['id: 3-0\nretry: 1000\ndata: \n\n']);
    sink.cut();
  });
});

describe('an answer that never came', () => {
  it.each(['stream', 'either', 'soon'] as const)(
    '[P-5] is a stream that ends, also where it was no stream yet: %s',
    (as) => {
      const { clock, response, sink } = start(undefined, as);
      sink.end();
      expect([response.type, response.ended, response.written]).toEqual(['text/event-stream', true, []]);
      expect(clock.pending).toBe(0);
    },
  );
});

describe('a client that does not read', () => {
  it('[P-5] holds up its server, is let go after 30 s, and not before', async () => {
    const { clock, response, told, sink } = start();
    sink.send(`"${'x'.repeat(20_000)}"`, undefined);
    expect(sink.isFull).toBe(true);
    await clock.advance(29_999);
    expect(response.destroyed).toBe(false);
    await clock.advance(1);
    expect([response.destroyed, told, sink.isOpen]).toEqual([true, ['left'], false]);
  });

  it('[P-5] has its time again once it has read', async () => {
    const { clock, response, told, sink } = start();
    sink.send(`"${'x'.repeat(20_000)}"`, undefined);
    await clock.advance(29_000);
    response.read();
    sink.send(`"${'x'.repeat(20_000)}"`, undefined);
    await clock.advance(29_000);
    expect([response.destroyed, told]).toEqual([false, ['drained']]);
  });

  it('[P-5] has no more kept for it than 16 MB', () => {
    const { response, sink } = start();
    for (let index = 0; index < 16; index++) sink.send('x'.repeat(1024 * 1024), undefined);
    expect(response.destroyed).toBe(true);
  });
});

describe('a stream on which nothing is said', () => {
  it('[P-5] shows every 15 s that it stands, as a comment', async () => {
    const { clock, response } = start();
    await clock.advance(30_000);
    expect(response.written).toEqual([': still here\n\n', ': still here\n\n']);
  });
});
