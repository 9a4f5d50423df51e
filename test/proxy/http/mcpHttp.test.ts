import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { RawClient, send, startHttp, stateless, token } from './startHttp.ts';

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

describe('who may ask', () => {
  it.each([
    ['without a token', { Authorization: undefined }, 401],
    ['with another token', { Authorization: 'Bearer planted-token-0123456780' }, 401],
    ['with the token in another scheme', { Authorization: `Basic ${token}` }, 401],
    ['from the page of another site', { Origin: 'http://evil.example' }, 403],
    ['from a page in a frame or a file', { Origin: 'null' }, 403],
    ['from a page of another port of this machine', { Origin: 'http://127.0.0.1:1' }, 403],
  ])('[P-5] a request %s is refused, and starts nothing', async (_, headers, status) => {
    const { url, facts } = await startHttp();
    const { status: got } = await send(url, 'POST', headers, JSON.stringify(initialize));
    expect(got).toBe(status);
    expect(facts.some(({ type }) => type === 'process.started')).toBe(false);
  });

  it('[P-5] a request under another name of this machine is refused, and so is one for another port', async () => {
    const { loopback } = await startHttp();
    const asked = (host: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ host: '127.0.0.1', port: loopback.port });
        let text = '';
        socket.on('data', (chunk) => (text += String(chunk)));
        socket.once('close', () => resolve(text.split('\r\n', 1)[0] ?? ''));
        socket.write(
          `GET /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
        );
      });
    expect(await asked('evil.example')).toBe('HTTP/1.1 403 Forbidden');
    expect(await asked('127.0.0.1:1')).toBe('HTTP/1.1 403 Forbidden');
    expect(await asked(`127.0.0.1:${loopback.port}`)).toBe('HTTP/1.1 406 Not Acceptable');
  });

  it('[P-5] a page of this very origin may ask, and everybody without a token where none is wanted', async () => {
    const { url, loopback } = await startHttp({ noToken: true });
    const headers = { Authorization: undefined, Origin: loopback.origin };
    expect((await send(url, 'POST', headers, JSON.stringify(initialize))).status).toBe(200);
  });
});

describe('what is asked', () => {
  it.each([
    ['that takes JSON alone', { Accept: 'application/json' }, 406, -32_000],
    ['that takes streams alone', { Accept: 'text/event-stream' }, 406, -32_000],
    ['of another type', { 'Content-Type': 'text/plain' }, 415, -32_000],
    ['of a version that is none', { 'MCP-Protocol-Version': '1999-01-01' }, 400, -32_000],
    ['of a session that is none', { 'Mcp-Session-Id': 'x' }, 404, -32_001],
    ['without a session', {}, 400, -32_000],
  ])('[P-5] a POST %s is refused', async (_, headers, status, code) => {
    const { url } = await startHttp();
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const answered = await send(url, 'POST', headers, ping);
    expect(answered.status).toBe(status);
    expect((await answered.messages())[0]?.error?.code).toBe(code);
  });

  it.each([
    ['is not JSON', '{', -32_700],
    ['is empty', '', -32_700],
    ['is no message', '{"hello":1}', -32_600],
    ['begins a session among others', `[${JSON.stringify(initialize)},${JSON.stringify(initialize)}]`, -32_600],
  ])('[P-5] a body that %s is refused', async (_, body, code) => {
    const { url } = await startHttp();
    const answered = await send(url, 'POST', {}, body);
    expect(answered.status).toBe(400);
    expect((await answered.messages())[0]?.error?.code).toBe(code);
  });

  it('[P-5] a body that is too large is refused, with or without a length', async () => {
    const { url } = await startHttp();
    const large = JSON.stringify({ ...initialize, x: 'x'.repeat(4 * 1024 * 1024) });
    const answered = await send(url, 'POST', {}, large);
    expect(answered.status).toBe(413);
    const stream = new Blob([large]).stream();
    const init = { method: 'POST', body: stream, duplex: 'half' } as RequestInit;
    const headers = { Authorization: `Bearer ${token}`, Accept: '*/*', 'Content-Type': 'application/json' };
    expect((await fetch(url, { ...init, headers })).status).toBe(413);
  });

  it('[P-5] other methods, other paths, and a GET that takes no stream are refused', async () => {
    const { url } = await startHttp();
    const put = await send(url, 'PUT', {}, '{}');
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    expect((await send(url.replace('/mcp', '/'), 'GET')).status).toBe(404);
    expect((await send(url, 'GET', { Accept: 'application/json' })).status).toBe(406);
    expect((await send(url, 'GET')).status).toBe(400);
    const modern = { 'MCP-Protocol-Version': '2026-07-28' };
    expect((await send(url, 'GET', modern)).status).toBe(405);
    expect((await send(url, 'DELETE', modern)).status).toBe(405);
  });

  it('[P-5] a message may stand on several lines', async () => {
    const { url } = await startHttp();
    const client = new RawClient(url);
    await client.open();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'tools/list' }, undefined, 2).replaceAll(
      '\n',
      '\r\n',
    );
    const [answer] = await (await client.post(body)).messages();
    expect(answer?.result?.['tools']).toHaveLength(3);
  });
});

describe('a request of the stateless era', () => {
  it.each([
    ['the version', { 'MCP-Protocol-Version': '2026-09-01' }],
    ['no method', { 'Mcp-Method': undefined }],
    ['another method', { 'Mcp-Method': 'tools/list' }],
    ['no name', { 'Mcp-Name': undefined }],
    ['another name', { 'Mcp-Name': 'put' }],
    ['a name that cannot be read', { 'Mcp-Name': '=?base64?*?=' }],
  ])('[P-5] with %s in its headers that its body has not is refused', async (_, headers) => {
    const { url } = await startHttp({ env: { STYLE: 'modern' } });
    const answered = await stateless(url, 'tools/call', { name: 'act' }, headers);
    expect(answered.status).toBe(400);
    expect((await answered.messages())[0]?.error?.code).toBe(-32_020);
  });

  it('[P-5] whose body does not say what it is of is refused', async () => {
    const { url } = await startHttp({ env: { STYLE: 'modern' } });
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' };
    const answered = await send(url, 'POST', headers, '{"jsonrpc":"2.0","id":5,"method":"tools/list"}');
    expect(answered.status).toBe(400);
    expect(await answered.messages()).toMatchObject([{ id: 5, error: { code: -32_602 } }]);
  });

  it('[P-5] may name in base64 what no header holds', async () => {
    const { url } = await startHttp({ env: { STYLE: 'modern' } });
    const name = `=?base64?${Buffer.from('grüße').toString('base64')}?=`;
    const answered = await stateless(url, 'tools/call', { name: 'grüße' }, { 'Mcp-Name': name });
    expect(answered.status).toBe(200);
  });

  it('[P-5] that no server knows is answered with 404, as an old server has it', async () => {
    const { url } = await startHttp();
    const answered = await stateless(url, 'server/discover');
    expect(answered.status).toBe(404);
    expect((await answered.messages())[0]?.error?.code).toBe(-32_601);
  });
});
