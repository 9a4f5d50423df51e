import { describe, expect, it } from 'vitest';
import { ModernHeaders } from '../../../../src/actors/mcp/http/modernHeaders.ts';

const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const call = (args: object, name = 'find') => ({ method: 'tools/call', params: { _meta, name, arguments: args } });

describe('the headers that a request repeats of its body', () => {
  it('[P-4] are none in the era with a handshake', () => {
    expect(new ModernHeaders().of({ method: 'tools/call', params: { name: 'find' } })).toEqual({});
  });

  it.each([
    ['tools/call', { name: 'find' }, 'find'],
    ['prompts/get', { name: 'greet' }, 'greet'],
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['tasks/get', { taskId: 't1' }, 't1'],
    ['tools/list', { name: 'find' }, undefined],
  ])('[P-4] of %s are version, method and what it is routed by', (method, params, name) => {
    expect(new ModernHeaders().of({ method, params: { ...params, _meta } })).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    });
  });

  it.each([
    ['größe', '=?base64?Z3LDtsOfZQ==?='],
    [' find', '=?base64?IGZpbmQ=?='],
    ['a\nb', '=?base64?YQpi?='],
    ['=?base64?x?=', '=?base64?PT9iYXNlNjQ/eD89?='],
    ['plain name', 'plain name'],
  ])('[P-4] hold %j as %s', (name, header) => {
    expect(new ModernHeaders().of(call({}, name))).toMatchObject({ 'mcp-name': header });
  });

  it('[P-4] have the arguments of a tool that its schema marks, wherever properties lead', () => {
    const headers = new ModernHeaders();
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    const deep = { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } };
    const properties = { region, deep, list: { type: 'array', items: region }, bad: { 'x-mcp-header': 'no token' } };
    headers.learn({ tools: [{ name: 'find', inputSchema: { type: 'object', properties } }, 5, { name: 1 }] });
    const sent = headers.of(call({ region: 'eu', deep: { count: 3 }, list: ['x'], bad: 'x' }));
    expect(sent).toMatchObject({ 'mcp-param-Region': 'eu', 'mcp-param-Count': '3' });
    expect(Object.keys(sent)).toHaveLength(5);
    expect(Object.keys(headers.of(call({ region: null })))).toHaveLength(3);
    headers.learn({ tools: [{ name: 'find', inputSchema: {} }] });
    expect(Object.keys(headers.of(call({ region: 'eu' })))).toHaveLength(3);
  });
});
