import { describe, expect, it } from 'vitest';
import { eventText } from '../../src/streams/eventText.ts';
import { type ServerSentEvent, ServerSentEventParser } from '../../src/streams/serverSentEvents.ts';
import { fc } from '../support/property.ts';

function parsed(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const parser = new ServerSentEventParser({ maxBytes: 10_000, onEvent: (event) => events.push(event) });
  parser.push(new TextEncoder().encode(text));
  parser.end();
  return events;
}

describe('the text of an event', () => {
  it('[R-14] has what the event has, and each line of its data', () => {
    expect(eventText({ event: 'delta', id: '7', retry: 1500, data: '{\n"a":1}' })).toBe(
      'event: delta\nid: 7\nretry: 1500\ndata: {\ndata: "a":1}\n\n',
    );
    expect(eventText({ data: '' })).toBe('data: \n\n');
    expect(eventText({ data: { a: 1 } })).toBe('data: {"a":1}\n\n');
  });

  it('[R-14] is read as the same event', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n\0]/g, ''));
    const some = line.filter((text) => text !== '');
    const event = fc.record({
      event: fc.option(some, { nil: undefined }),
      id: fc.option(some, { nil: undefined }),
      data: fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n')),
    });
    fc.assert(
      fc.property(event, (given) => {
        expect(parsed(eventText(given))).toEqual([given]);
      }),
    );
  });

  it('[R-14] is refused that would be something else', () => {
    expect(() => eventText({ event: 'a\ndata: b', data: 'c' })).toThrow('Expected `event` to be one line');
    expect(() => eventText({ id: 'a\r', data: 'c' })).toThrow('Expected `id` to be one line');
    expect(() => eventText({ data: undefined })).toThrow('Expected `data` to be writable as JSON, got undefined');
  });
});
