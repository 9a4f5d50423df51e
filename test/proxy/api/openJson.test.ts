import { describe, expect, it } from 'vitest';
import { OpenJson } from '../../../proxy/api/openJson.ts';

/** Values whose strings hold what would open or close one. */
const values = ['{"a":[1,{"b":"}]\\\\"}]}', '[]', '"\\\\\\"["', '{"é":"😀\\u005b"}', ' [ "[" , "{" ] \n'];

describe('JSON that comes in pieces', () => {
  it.each(values)('[R-14] is open at each of its bytes but the last: %s', (text) => {
    const bytes = Buffer.from(text.trim());
    const json = new OpenJson();
    for (let at = 0; at < bytes.length; at++) {
      json.push(bytes.subarray(at, at + 1));
      expect([at, json.isOpen]).toEqual([at, at < bytes.length - 1]);
    }
    json.push(Buffer.from('\n'));
    expect(json.isOpen).toBe(false);
  });

  it.each(['', 'null', '12', 'no such thing'])('[R-14] is not open where it opens nothing: %j', (text) => {
    const json = new OpenJson();
    json.push(Buffer.from(text));
    expect(json.isOpen).toBe(false);
  });
});
