import { readFileSync } from 'node:fs';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { safeEnvironment } from '../../../../src/actors/process/childEnvironment.ts';

describe('the environment that is safe for any child', () => {
  it('[P-1] is that of the MCP SDK, where there are neither proxies nor certificates', () => {
    const host = { ...getDefaultEnvironment(), API_KEY: 'k', NODE_OPTIONS: '--inspect' };
    expect(safeEnvironment([], host)).toEqual(getDefaultEnvironment());
  });

  it('[P-1] has the places of certificates, and proxies without a password', () => {
    const page = readFileSync(new URL('../../../../docs/guides/mcp-servers.md', import.meta.url), 'utf8');
    const told =
      page
        .split('`safe` lets through ')[1]
        ?.split('A proxy with')[0]
        ?.match(/\b[A-Z_]{4,}\b/g) ?? [];
    const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
    expect(told).toEqual(expect.arrayContaining(['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', ...proxies]));
    const names = [...told, ...proxies.map((name) => name.toLowerCase())];
    const host = Object.fromEntries(names.map((name) => [name, 'http://proxy.internal:3128']));
    // Nothing beside what the page says, and all of that.
    expect(safeEnvironment([], { ...host, API_KEY: 'k', SSL_CERT_KEY: 'k', HTTPS_PROXY_AUTH: 'k' })).toEqual(host);
  });

  it.each(['http://me:planted@proxy.internal:3128', 'me:planted@proxy.internal:3128', 'http://me@proxy.internal'])(
    '[P-1] [O-8] leaves out the proxy %s, unless it is allowed by its name',
    (address) => {
      const host = { HTTP_PROXY: address, https_proxy: address, ALL_PROXY: address };
      expect(safeEnvironment([], host)).toEqual({});
      expect(safeEnvironment(['HTTP_PROXY'], host)).toEqual({ HTTP_PROXY: address });
    },
  );

  it('[P-3] has what was allowed besides, where it is set', () => {
    const host = { PATH: '/bin', KEY: 'k', EMPTY: '', OTHER: 'o' };
    expect(safeEnvironment(['KEY', 'EMPTY', 'MISSING'], host)).toEqual({ PATH: '/bin', KEY: 'k', EMPTY: '' });
  });

  it('[P-1] leaves shell functions out', () => {
    expect(safeEnvironment([], { PATH: '() { :; }', HOME: '/root' })).toEqual({ HOME: '/root' });
  });
});
