import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { doubledMember, elementSpans, memberSpan } from '../../../src/protocol/mcp/jsonSpans.ts';

const memberOf = (text: string, name: string): unknown => {
  const span = memberSpan(text, name);
  return span === undefined ? undefined : JSON.parse(text.slice(span.start, span.end));
};

describe('the span of a member', () => {
  it('[Q-4] of a text that is no JSON is looked for without a throw', () => {
    for (const text of ['{"\\,', '{"\\x":1,"id":2}', '{"a\\u12":'])
      expect([memberSpan(text, 'id'), doubledMember(text)]).not.toContain(NaN);
    expect(memberOf('{"\\x":1,"id":2', 'id')).toBe(2);
  });

  it('[P-3] is where the value stands, whatever is around it', () => {
    const text = ' { "a" : {"id":1} ,\t"id" : "x\\"]}" , "b":[{"id":2}] } \n';
    expect(memberOf(text, 'id')).toBe('x"]}');
    expect(memberOf(text, 'b')).toEqual([{ id: 2 }]);
  });

  it.each([
    ['{"id":1,"id":2}', 2],
    ['{"\\u0069d":3}', 3],
    ['{"id":-1.5e3}', -1500],
    ['{"id":null}', null],
    ['{"id":"\\\\"}', '\\'],
    ['{"xid":1,"idx":2}', undefined],
    ['[{"id":1}]', undefined],
    ['"id"', undefined],
  ])('[P-3] in %s is %j, as JSON.parse has it', (text, value) => {
    expect(memberOf(text, 'id')).toBe(value);
  });

  it('[P-3] is that of JSON.parse for every object', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
    fc.assert(
      fc.property(json, fc.nat({ max: 2 }), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        for (const [name, member] of Object.entries(value)) {
          expect(JSON.stringify(memberOf(text, name))).toBe(JSON.stringify(member));
        }
      }),
    );
  });

  it('[P-3] [Q-6] takes linear time over hostile text', () => {
    const text = `{"a":"${'\\"'.repeat(500_000)}","b":"${'\\\\'.repeat(500_000)}","id":1}`;
    expect(memberOf(text, 'id')).toBe(1);
  });

  it('[P-3] of text that is cut off ends with it', () => {
    for (const text of ['{', '{"', '{"id"', '{"id":', '{"id":"x', '{"id":[1,', '{"a":1,', '{1:2}', '{"id":}']) {
      expect(() => memberSpan(text, 'id')).not.toThrow();
    }
  });
});

describe('the spans of elements', () => {
  it('[P-3] are those of the array', () => {
    const text = ' [ {"a":[1,2]} , "],[" ,3 , [] ]';
    expect(elementSpans(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      '{"a":[1,2]}',
      '"],["',
      '3',
      '[]',
    ]);
  });

  it('[P-3] of what is no array are none', () => {
    expect([elementSpans('{}'), elementSpans('[]'), elementSpans('')]).toEqual([[], [], []]);
  });
});
