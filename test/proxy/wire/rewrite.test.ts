import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { withProgressToken, withRequestId, withText } from '../../../proxy/wire/rewrite.ts';
import { withId } from '../../../src/protocol/mcp/jsonSpans.ts';

describe('a message with another id', () => {
  it('[P-3] is else as it was written', () => {
    const text = '{ "result":{"id":1,"n":1.0}, "id" : 12345678901234567890 ,"x":"\\u0041"}\n';
    expect(withId(text, 'a"b')).toBe('{ "result":{"id":1,"n":1.0}, "id" : "a\\"b" ,"x":"\\u0041"}\n');
  });

  it('[P-3] without an id stays as it is', () => {
    expect(withId('{"method":"x"}', 1)).toBe('{"method":"x"}');
  });
});

describe('a cancellation of another request', () => {
  it('[P-3] is else as it was written', () => {
    const text = '{"method":"notifications/cancelled","params":{ "reason":"requestId", "requestId" : 1 }}';
    expect(withRequestId(text, 'b')).toBe(
      '{"method":"notifications/cancelled","params":{ "reason":"requestId", "requestId" : "b" }}',
    );
    expect(withRequestId('{"params":{}}', 1)).toBe('{"params":{}}');
  });
});

describe('a request with a progress token', () => {
  it.each([
    ['{"params":{}}', '{"params":{"_meta":{"progressToken":"t"}}}'],
    ['{"params":{ "name":"x"}}', '{"params":{"_meta":{"progressToken":"t"}, "name":"x"}}'],
    ['{"params":{"_meta":{}}}', '{"params":{"_meta":{"progressToken":"t"}}}'],
    ['{"params":{"_meta":{"a":1}}}', '{"params":{"_meta":{"progressToken":"t","a":1}}}'],
  ])('[P-3] is else as it was written: %s', (text, marked) => {
    expect(withProgressToken(text, 't')).toBe(marked);
  });

  it.each(['{}', '{"params":[1]}', '{"params":{"_meta":1}}', '{"params":{"_meta":{"progressToken":null}}}'])(
    '[P-3] is none where it can hold none, or has one: %s',
    (text) => {
      expect(withProgressToken(text, 't')).toBeUndefined();
    },
  );

  it('[P-3] says the same but for the token, whatever its params', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat({ max: 2 }), (params, indent) => {
        const text = JSON.stringify({ id: 1, params }, null, indent);
        const marked = withProgressToken(text, 'token');
        if (marked === undefined) return;
        const read = JSON.parse(marked) as { params: { _meta: Record<string, unknown> } };
        expect(read.params._meta['progressToken']).toBe('token');
        delete read.params._meta['progressToken'];
        expect(read.params).toEqual({ _meta: {}, ...(JSON.parse(text) as { params: object }).params });
      }),
    );
  });
});

describe('an answer with a sentence for the agent', () => {
  it.each([
    ['{ "result":{"content":[ ],"n":1.0} }\n', '{ "result":{"content":[ {"type":"text","text":"a\\"b"}],"n":1.0} }\n'],
    [
      '{"result":{"x":{"content":[]},"content":[{"type":"text","text":"]"} ] },"id":1}',
      '{"result":{"x":{"content":[]},"content":[{"type":"text","text":"]"} ,{"type":"text","text":"a\\"b"}] },"id":1}',
    ],
    [
      '{"error":{"data":{"message":1.0}, "message" : "no\\u0020\\"way\\"","code":1},"id":1}',
      '{"error":{"data":{"message":1.0}, "message" : "no\\u0020\\"way\\" a\\"b","code":1},"id":1}',
    ],
  ])('[P-9] is else as it was written: %s', (text, expected) => {
    expect(withText(text, 'a"b')).toBe(expected.replace(' a"b', ' a\\"b'));
  });

  it.each(['{"result":{"task":{"taskId":"7"}},"id":1}', '{"result":{"content":null},"id":1}', '{"id":1}'])(
    '[P-9] that has no place for it stays as it is: %s',
    (text) => expect(withText(text, 'told')).toBe(text),
  );
});
