import { describe, expect, it } from 'vitest';
import { type AccessRules, refusalOf } from '../../../web/server/access.ts';

const port = 4711;
const host = `127.0.0.1:${port}`;
const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

type Asked = Parameters<typeof refusalOf>[0];

function accessOf(request: Asked, rules: AccessRules): string {
  const refusal = refusalOf(request, rules);
  if (refusal === undefined) return 'allowed';
  expect(refusal.reason).toMatch(/^[A-Z].*[^.]\.$/);
  return refusal.status;
}

describe('a request to a listener of this machine', () => {
  it.each([
    ['the address', { host }],
    ['its name', { host: `LOCALHOST:${port}` }],
    ['a page of its own', { host, origin: `http://${host}` }],
    ['a page of its own, by name', { host, origin: `http://localhost:${port}` }],
    ['a part of a page of its own', { host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }],
    ['an address that somebody typed', { host, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
  ])('[P-5] may be answered from %s', (_from, headers) => {
    expect(accessOf({ headers }, { port })).toBe('allowed');
  });

  it.each([
    ['no host', {}],
    ['another name for this machine', { host: `evil.example:${port}` }],
    ['another port', { host: '127.0.0.1:4712' }],
    ['no port', { host: '127.0.0.1' }],
    ['the page of another site', { host, origin: 'https://evil.example' }],
    ['the page of another port', { host, origin: 'http://localhost:4712' }],
    ['the same place over another protocol', { host, origin: `https://${host}` }],
    ['a frame or a file', { host, origin: 'null' }],
    ['a picture in a page of another site', { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    ['a page of another port of this machine', { host, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }],
    ['a link of a page of another site', { host, ...link }],
  ])('[P-5] [Q-6] is foreign from %s, whatever token it shows', (_from, headers) => {
    const token = { value: 'secret', in: 'bearer' } as const;
    const asked = { headers: { ...headers, authorization: 'Bearer secret' } };
    expect(accessOf(asked, { port, token })).toBe('403 Forbidden');
    expect(accessOf({ headers }, { port })).toBe('403 Forbidden');
  });

  it.each([
    ['a name of the network', { host: 'gateway.internal:7420' }, 'allowed'],
    ['its own page there', { host: 'gateway.internal:7420', origin: 'http://gateway.internal:7420' }, 'allowed'],
    ['its own page behind TLS', { host: 'gateway.example', origin: 'https://gateway.example' }, 'allowed'],
    ['the page of another site', { host: 'gateway.internal:7420', origin: 'https://evil.example' }, '403 Forbidden'],
    ['no host', {}, '403 Forbidden'],
  ])('[E-1] on another address than the loopback one, from %s', (_from, headers, access) => {
    expect(accessOf({ headers }, { port, anyHost: true })).toBe(access);
  });

  it.each([
    ['Bearer secret', 'allowed'],
    ['bearer  secret ', 'allowed'],
    ['Bearer secret2', '401 Unauthorized'],
    ['Bearer secre', '401 Unauthorized'],
    ['Basic secret', '401 Unauthorized'],
    ['secret', '401 Unauthorized'],
    ['', '401 Unauthorized'],
    [undefined, '401 Unauthorized'],
  ])('[P-5] with the header Authorization %j is %s', (authorization, access) => {
    const token = { value: 'secret', in: 'bearer' } as const;
    expect(accessOf({ headers: { host, authorization }, url: '/?token=secret' }, { port, token })).toBe(access);
  });

  it.each([
    ['/?token=secret', 'allowed'],
    ['/events?a=1&token=secret', 'allowed'],
    ['/?token=secre', '403 Forbidden'],
    ['/?token=', '403 Forbidden'],
    ['/token=secret', '403 Forbidden'],
    [undefined, '403 Forbidden'],
  ])('[O-6] with the address %j is %s', (url, access) => {
    const token = { value: 'secret', in: 'query' } as const;
    expect(
      accessOf(
        { headers: { host, authorization: 'Bearer secret' }, ...(url !== undefined && { url }) },
        { port, token },
      ),
    ).toBe(access);
  });

  it('[P-5] may come by a link of another site where that is said, or where the address holds the token', () => {
    const token = { value: 'secret', in: 'query' } as const;
    const headers = { host, ...link };
    expect(accessOf({ headers }, { port, isLinked: true })).toBe('allowed');
    expect(accessOf({ headers, url: '/?token=secret' }, { port, token })).toBe('allowed');
    expect(accessOf({ headers }, { port, token })).toBe('403 Forbidden');
    expect(accessOf({ headers, method: 'POST' }, { port, isLinked: true })).toBe('403 Forbidden');
    const framed = { ...headers, 'sec-fetch-dest': 'iframe' };
    expect(accessOf({ headers: framed }, { port, isLinked: true })).toBe('403 Forbidden');
  });

  it('[P-5] needs no port in its Host where that is the one of HTTP', () => {
    expect(accessOf({ headers: { host: '127.0.0.1' } }, { port: 80 })).toBe('allowed');
    expect(accessOf({ headers: { host: 'localhost:80', origin: 'http://localhost' } }, { port: 80 })).toBe('allowed');
  });

  it.each([
    [{ method: 'TRACE' }, '405 Method Not Allowed'],
    [{ method: 'CONNECT', url: 'evil.example:443' }, '405 Method Not Allowed'],
    [{ url: `http://${host}/v1/models` }, '400 Bad Request'],
    [{ url: 'http://evil.example/' }, '400 Bad Request'],
    [{ url: '*', method: 'OPTIONS' }, '400 Bad Request'],
    [{ url: '//evil.example/' }, '400 Bad Request'],
    [{ url: '/\\evil.example/' }, '400 Bad Request'],
    [{ url: '/v1/../../admin' }, '400 Bad Request'],
    [{ url: '/v1/%2E%2e/admin' }, '400 Bad Request'],
    [{ url: '/v1/.%2e' }, '400 Bad Request'],
    [{ url: '/v1/..\\admin?x' }, '400 Bad Request'],
    [{ url: '/v1/a..b/...?to=/../x' }, 'allowed'],
    [{ rawHeaders: ['Host', host, 'x-host', 'x', 'host', host] }, '400 Bad Request'],
    [{ rawHeaders: ['Host', host, 'x-name', 'host'], url: '/a//b?to=http://c' }, 'allowed'],
  ])('[P-5] [Q-6] of the form %j is %s', (form, status) => {
    expect(accessOf({ headers: { host }, ...form }, { port })).toBe(status);
  });
});
