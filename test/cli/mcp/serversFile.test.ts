import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serversIn } from '../../../src/cli/mcp/serversFile.ts';

const page = readFileSync(new URL('../../../docs/mcp-proxy.md', import.meta.url), 'utf8');

describe('the servers of a file', () => {
  it('[P-8] are those of the page about it', () => {
    const texts = page.split('```json\n').map((part) => part.split('```')[0] ?? '');
    const text = texts.find((each) => each.includes('SEARCH_TOKEN')) ?? '';
    const servers = serversIn('page', JSON.parse(text), { SEARCH_TOKEN: 's3cret' });
    expect(servers.map(({ name }) => name)).toEqual(['files', 'memory', 'search']);
    expect(servers[2]?.remote).toEqual({
      url: 'https://search.example/mcp',
      headers: { Authorization: 'Bearer s3cret' },
      transport: undefined,
    });
  });

  it('[P-8] may stand for variables, with something else where there is none', () => {
    const file = { mcpServers: { a: { command: '${BIN}/a', args: ['${X:-none}'], env: { KEY: '${BIN}' }, cwd: '/' } } };
    expect(serversIn('file', file, { BIN: '/bin' })).toEqual([
      { name: 'a', command: '/bin/a', args: ['none'], env: { KEY: '/bin' }, cwd: '/' },
    ]);
  });

  it('[P-8] are refused where a variable that has no default is not set, each by its key', () => {
    const files = { command: '${BIN}', args: ['-y', '${ROOT:-/}', '${PACKAGE}'], env: { KEY: 'a ${KEY}' } };
    const search = { url: 'https://search.example/mcp', headers: { Authorization: 'Bearer ${SEARCH_TOKEN}' } };
    const read = (mcpServers: object, env = {}) => serversIn('servers.json', { mcpServers }, env);
    const not = (server: string, ...told: readonly (readonly [string, string])[]): string =>
      `The servers of "servers.json" cannot be used: "${server}": ${told
        .map(([key, variable]) => `\`${key}\` needs the variable ${variable}, which is not set`)
        .join(', ')}`;
    expect(() => read({ files: { command: 'files' }, search })).toThrow(
      not('search', ['headers.Authorization', 'SEARCH_TOKEN']),
    );
    expect(() => read({ search: { ...search, url: '${HOST}/mcp' } }, { SEARCH_TOKEN: 's3cret' })).toThrow(
      not('search', ['url', 'HOST']),
    );
    expect(() => read({ files })).toThrow(not('files', ['command', 'BIN'], ['args.2', 'PACKAGE'], ['env.KEY', 'KEY']));
  });
});
