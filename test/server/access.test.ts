import { describe, expect, it } from 'vitest';
import { accessOf } from '../../src/server/access.ts';

const port = 4711;
const host = `127.0.0.1:${port}`;

describe('a request to a listener of this machine', () => {
  it.each([
    ['the address', { host }],
    ['its name', { host: `LOCALHOST:${port}` }],
    ['a page of its own', { host, origin: `http://${host}` }],
    ['a page of its own, by name', { host, origin: `http://localhost:${port}` }],
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
  ])('[P-5] is foreign from %s, whatever token it shows', (_from, headers) => {
    const token = { value: 'secret', in: 'bearer' } as const;
    const asked = { headers: { ...headers, authorization: 'Bearer secret' } };
    expect(accessOf(asked, { port, token })).toBe('foreign');
    expect(accessOf({ headers }, { port })).toBe('foreign');
  });

  it.each([
    ['Bearer secret', 'allowed'],
    ['bearer  secret ', 'allowed'],
    ['Bearer secret2', 'unauthorized'],
    ['Bearer secre', 'unauthorized'],
    ['Basic secret', 'unauthorized'],
    ['secret', 'unauthorized'],
    ['', 'unauthorized'],
    [undefined, 'unauthorized'],
  ])('[P-5] with the header Authorization %j is %s', (authorization, access) => {
    const token = { value: 'secret', in: 'bearer' } as const;
    expect(accessOf({ headers: { host, authorization }, url: '/?token=secret' }, { port, token })).toBe(access);
  });

  it.each([
    ['/?token=secret', 'allowed'],
    ['/events?a=1&token=secret', 'allowed'],
    ['/?token=secre', 'unauthorized'],
    ['/?token=', 'unauthorized'],
    ['/token=secret', 'unauthorized'],
    [undefined, 'unauthorized'],
  ])('[O-6] with the address %j is %s', (url, access) => {
    const token = { value: 'secret', in: 'query' } as const;
    expect(
      accessOf(
        { headers: { host, authorization: 'Bearer secret' }, ...(url !== undefined && { url }) },
        { port, token },
      ),
    ).toBe(access);
  });
});
