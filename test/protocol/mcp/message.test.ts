import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { idKey, readMessage } from '../../../src/protocol/mcp/message.ts';

describe('a line of MCP', () => {
  it('[P-3] with a method and an id is a request', () => {
    expect(readMessage('{"jsonrpc":"2.0","id":0,"method":"ping","result":1}')).toMatchObject({
      kind: 'request',
      id: 0,
      key: 'n0',
      method: 'ping',
      params: {},
    });
  });

  it('[P-3] with a method alone is a notification', () => {
    expect(readMessage('{"method":"notifications/x","params":{"a":1}}')).toMatchObject({
      kind: 'notification',
      method: 'notifications/x',
      params: { a: 1 },
    });
  });

  it('[P-3] with an id and a result or an error is an answer', () => {
    expect(readMessage('{"id":"a","result":{"b":1}}')).toMatchObject({ kind: 'answer', key: 'sa', result: { b: 1 } });
    expect(readMessage('{"id":null,"error":{"code":1}}')).toMatchObject({ key: undefined, error: { code: 1 } });
    expect(readMessage('{"id":1,"result":{},"error":null}')).toMatchObject({ kind: 'answer', error: undefined });
  });

  it.each([
    '1',
    '"text"',
    'null',
    '{}',
    '[]',
    '{"id":1}',
    '{"id":null,"method":"x"}',
    '{"id":{},"method":"x"}',
    '{"method":1}',
    '{"id":1e999,"method":"x"}',
    '{"id":true,"result":{}}',
  ])('[P-3] that is JSON and no message is foreign: %s', (line) => {
    expect(readMessage(line)).toEqual({ kind: 'foreign' });
  });

  it('[P-3] that is a list is a batch of what is in it', () => {
    const batch = readMessage('[{"id":1,"method":"a"},{"id":1,"result":{}},7]');
    expect(batch.kind === 'batch' && batch.items.map(({ kind }) => kind)).toEqual(['request', 'answer', 'foreign']);
  });

  it('[P-3] never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        expect(readMessage(line).kind).toBeTypeOf('string');
      }),
    );
  });
});

describe('the key of an id', () => {
  it('[P-3] tells ids apart by type and value', () => {
    const ids = [0, '0', '', 1.5, '1.5', -1, 'n0', 's'];
    expect(new Set(ids.map(idKey)).size).toBe(ids.length);
  });

  it('[P-3] of 1 and 1.0 is one, as for every peer that reads JSON', () => {
    expect(idKey(JSON.parse('1.0'))).toBe(idKey(1));
  });
});
