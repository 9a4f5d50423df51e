import { describe, expect, it } from 'vitest';
import { type ServerSentEvent, ServerSentEventParser } from '../../src/streams/serverSentEvents.ts';
import { fc } from '../support/property.ts';

/** A parser and what it gave. */
function startParser(maxBytes = 1000) {
  const events: ServerSentEvent[] = [];
  const comments: string[] = [];
  const parser = new ServerSentEventParser({
    maxBytes,
    onEvent: (event) => events.push(event),
    onComment: (comment) => comments.push(comment),
  });
  const push = (text: string): void => parser.push(new TextEncoder().encode(text));
  return { parser, push, events, comments };
}

/** The events of a stream that came as these texts. */
function eventsOf(...texts: string[]): ServerSentEvent[] {
  const { parser, push, events } = startParser();
  texts.forEach(push);
  parser.end();
  return events;
}

describe('the parser of server-sent events', () => {
  it('[R-14] gives type, data, id and the time to come again', () => {
    const { push, events } = startParser();
    push('event: delta\nid: 7\nretry: 1500\ndata: a\ndata:b\n\ndata: c\n\n');
    expect(events).toEqual([
      { event: 'delta', id: '7', data: 'a\nb', retry: 1500 },
      { event: undefined, id: undefined, data: 'c' },
    ]);
  });

  it.each(['\n', '\r', '\r\n'])('[R-14] takes %j for the end of a line', (end) => {
    const text = ['event: a', 'data: 1', '', 'data: 2', '', ''].join(end);
    expect(eventsOf(text).map(({ data }) => data)).toEqual(['1', '2']);
    // An event is not held back until it is known what follows its CR.
    const { push, events } = startParser();
    push(text);
    expect(events).toHaveLength(2);
  });

  it('[R-14] tells CR and LF of two chunks from two ends of lines', () => {
    expect(eventsOf('data: a\r', '\ndata: b\r\n', '\r\n')).toMatchObject([{ data: 'a\nb' }]);
    expect(eventsOf('data: a\r', '\n', '\n')).toMatchObject([{ data: 'a' }]);
  });

  it('[R-14] skips a byte order mark at the beginning alone, and fields that it does not know', () => {
    expect(eventsOf('\uFEFFdata: \uFEFFa\nother: b\n\n')).toMatchObject([{ data: '\uFEFFa' }]);
  });

  it('[R-14] gives the same events however the bytes are cut', () => {
    const text =
      ': hello\n\nevent: délta\r\ndata: {"text":"héllo 😀"}\r\n\r\nid: 1\rdata: ü\rdata: x\r\rdata: [DONE]\n\n';
    const bytes = new TextEncoder().encode(text);
    const whole = eventsOf(text);
    expect(whole).toHaveLength(3);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const { parser, events, comments } = startParser();
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        for (const [index, from] of at.slice(0, -1).entries()) parser.push(bytes.subarray(from, at[index + 1]));
        parser.end();
        expect(events).toEqual(whole);
        expect(comments).toEqual(['hello']);
      }),
    );
  });

  it.each([
    'data: a',
    'data: a\n',
    'data:\n',
    'event: a\n',
    'id: 1\n',
    'data: a\n\ndata: b\r\n',
    'data: a\n\nda',
    'data: a\n\n\u00e9',
  ])('[R-14] [R-13] says that a stream was cut: %j', (text) => {
    const { parser, push } = startParser();
    push(text);
    expect(() => parser.end()).toThrow('The stream ended in the middle of an event');
  });

  it('[R-14] [R-13] says that a stream was cut within a character', () => {
    const { parser } = startParser();
    parser.push(new TextEncoder().encode('data: a\n\n\u00e9').subarray(0, -1));
    expect(() => parser.end()).toThrow('The stream ended in the middle of an event');
  });

  it.each(['', ': comment\n', 'data: a\n\n', 'data: a\n\n\n', 'data: a\n\n: x\n\nretry: 5\n'])(
    '[R-14] takes a stream for whole that ends between events: %j',
    (text) => {
      const { parser, push } = startParser();
      push(text);
      expect(() => parser.end()).not.toThrow();
    },
  );

  it('[R-14] refuses an event that is longer than its limit, after those before it', () => {
    const at = startParser(10);
    at.push(`data: ${'é'.repeat(5)}\n\n`);
    expect(at.events).toHaveLength(1);
    const { push, events } = startParser(10);
    expect(() => push(`data: a\n\ndata: ${'é'.repeat(5)}x\n\ndata: b\n\n`)).toThrow(
      'An event of the stream is longer than 10 bytes',
    );
    expect(events).toMatchObject([{ data: 'a' }]);
    expect(() => push('data: c\n\n')).toThrow('longer than 10 bytes');
  });

  it.each(['data: ', ': ', 'x', 'data: a\ndata: '])(
    '[R-14] keeps no more than its limit of what has begun: %j',
    (begin) => {
      const { push } = startParser(10_000);
      push(begin);
      let pushed = 0;
      const endless = (): void => {
        for (; pushed < 1000; pushed++) push('x'.repeat(100));
      };
      expect(endless).toThrow('longer than 10000 bytes');
      expect(pushed).toBeLessThan(115);
    },
  );
});
