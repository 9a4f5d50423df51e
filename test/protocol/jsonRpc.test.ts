import { describe, expect, it } from 'vitest';
import { parseRpc, rpcErrors, rpcLine } from '../../src/protocol/jsonRpc.ts';

describe('a JSON-RPC message', () => {
  it.each([0, 7, '', 'a'])('is a request with the id %j', (id) => {
    expect(parseRpc(rpcLine({ id, method: 'tree', params: { name: 'kb' } }))).toEqual({
      kind: 'request',
      id,
      method: 'tree',
      params: { name: 'kb' },
    });
  });

  it('without an id is a notification', () => {
    expect(parseRpc('{"jsonrpc":"2.0","method":"turn/started"}')).toEqual({
      kind: 'notification',
      method: 'turn/started',
      params: undefined,
    });
  });

  it('is a result, also one of null or false', () => {
    expect(parseRpc(rpcLine({ id: 0, result: null }))).toEqual({ kind: 'result', id: 0, result: null });
    expect(parseRpc(rpcLine({ id: 'a', result: false }))).toEqual({ kind: 'result', id: 'a', result: false });
  });

  it('is an error, with its data and also without an id', () => {
    const error = { code: -32_600, message: 'no', data: { why: 1 } };
    expect(parseRpc(rpcLine({ id: 3, error }))).toEqual({ kind: 'error', id: 3, error });
    expect(parseRpc(rpcLine({ id: null, error: { code: 1, message: '' } }))).toEqual({
      kind: 'error',
      id: null,
      error: { code: 1, message: '' },
    });
  });

  it('may leave its version out, and may carry an empty error beside its result', () => {
    expect(parseRpc('{"id":0,"method":"ask"}')).toMatchObject({ kind: 'request', id: 0 });
    expect(parseRpc('{"id":0,"result":1,"error":null}')).toEqual({ kind: 'result', id: 0, result: 1 });
  });

  it('is one line, whatever it holds', () => {
    expect(rpcLine({ id: 1, result: 'a\nb\r\u2028' }).match(/[\n\r]/g)).toEqual(['\n']);
  });

  it.each([
    ['', null],
    ['{"id":1', null],
  ])('%j is no JSON', (text, id) => {
    expect(parseRpc(text)).toEqual({ kind: 'garbage', code: rpcErrors.parse, reason: 'not JSON', id });
  });

  it.each([
    ['null', 'not an object', null],
    ['3', 'not an object', null],
    ['[{"id":1,"method":"tree"}]', 'a batch', null],
    ['{"jsonrpc":"1.0","id":1,"method":"tree"}', 'not JSON-RPC 2.0', 1],
    ['{"id":{},"method":"tree"}', 'an id of a wrong type', null],
    ['{"id":1.5,"method":"tree"}', 'an id of a wrong type', null],
    ['{"id":null,"method":"tree"}', 'a request whose id is null', null],
    ['{"id":1,"method":2}', 'a method that is no string', 1],
    ['{"id":1}', 'neither a method nor a result nor an error', 1],
    ['{"result":1}', 'a result without an id', null],
    ['{"id":1,"error":"no"}', 'an error without code and message', 1],
    ['{"id":1,"error":{"code":"E","message":"no"}}', 'an error without code and message', 1],
  ])('%s is garbage, with the id that is in it', (text, reason, id) => {
    expect(parseRpc(text)).toEqual({ kind: 'garbage', code: rpcErrors.invalidRequest, reason, id });
  });
});
