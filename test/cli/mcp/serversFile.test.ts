import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serversIn } from '../../../cli/mcp/serversFile.ts';

const page = readFileSync(new URL('../../../docs/mcp-proxy.md', import.meta.url), 'utf8');

describe('the servers of a file', () => {
  it('[P-8] are those of the page about it', () => {
    const texts = page.split('```json\n').map((part) => part.split('```')[0] ?? '');
    const text = texts.find((each) => each.includes('SEARCH_TOKEN')) ?? '';
    const { servers } = serversIn('page', JSON.parse(text), { SEARCH_TOKEN: 's3cret' });
    expect(servers.map(({ name }) => name)).toEqual(['files', 'memory', 'search']);
    expect(servers[2]?.remote).toEqual({
      url: 'https://search.example/mcp',
      headers: { Authorization: 'Bearer s3cret' },
      transport: undefined,
    });
  });

  it('[P-8] whose names had to change are named with both, and no others', () => {
    const server = { command: 'files' };
    const { servers, notes } = serversIn('file', { mcpServers: { '@vendor/x': server, plain: server } }, {});
    expect(servers.map(({ name }) => name)).toEqual(['_vendor_x', 'plain']);
    expect(notes).toEqual([
      '"@vendor/x" is called _vendor_x: names of tools begin with it, and have letters, digits, - and _',
    ]);
  });

  it('[P-8] may stand for variables, with something else where there is none', () => {
    const file = { mcpServers: { a: { command: '${BIN}/a', args: ['${X:-none}'], env: { KEY: '${BIN}' }, cwd: '/' } } };
    expect(serversIn('file', file, { BIN: '/bin' }).servers).toEqual([
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
    expect(() => read({ search })).toThrow(not('search', ['headers.Authorization', 'SEARCH_TOKEN']));
    const { servers, notes } = read({ files: { command: 'files' }, search });
    expect(servers.map(({ name }) => name)).toEqual(['files']);
    expect(notes).toEqual([
      expect.stringMatching(/left out "search": `headers.Authorization` needs the variable SEARCH_TOKEN/),
    ]);
    expect(() => read({ search: { ...search, url: '${HOST}/mcp' } }, { SEARCH_TOKEN: 's3cret' })).toThrow(
      not('search', ['url', 'HOST']),
    );
    expect(() => read({ files })).toThrow(not('files', ['command', 'BIN'], ['args.2', 'PACKAGE'], ['env.KEY', 'KEY']));
  });

  it.each([
    ['90s', 90_000],
    [1500, 1500],
  ])('[P-8] may have a limit on their start of their own: %j', (handshakeMs, ms) => {
    const mcpServers = { a: { command: 'a', handshakeMs }, b: { url: 'https://b.example/mcp', handshakeMs } };
    expect(serversIn('file', { mcpServers }, {}).servers.map((each) => each.handshakeMs)).toEqual([ms, ms]);
  });

  it.each([0, -1, 'soon', '', true, null])('[P-8] are refused with %j as the limit on their start', (handshakeMs) => {
    const mcpServers = { a: { command: 'a', handshakeMs } };
    expect(() => serversIn('file', { mcpServers }, {})).toThrow('expected `handshakeMs` to be ms above 0');
  });

  it.each([
    ['@vendor/x', '_vendor_x'],
    ['awslabs.x', 'awslabs_x'],
    ['Two Words', 'Two_Words'],
    ['größe', 'gr__e'],
    ['日本 🙂', '____'],
    ['a:b', 'a_b'],
    ['plain-1_2', 'plain-1_2'],
  ])('[P-8] is called by its name %s with _ for what names of tools cannot have', (written, name) => {
    const mcpServers = { [written]: { command: 'x' }, other: { command: 'y' } };
    const { servers, notes } = serversIn('file', { mcpServers }, {});
    expect(servers.map((each) => each.name)).toEqual([name, 'other']);
    const isCalled = expect.stringContaining(`${JSON.stringify(written)} is called ${name}`) as string;
    expect(notes).toEqual(name === written ? [] : [isCalled]);
  });

  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['that is too long', { ['x'.repeat(41)]: { command: 'x' } }, 'ok', /left out "x+.*": a name has at most 40/],
    ['that is none', { '': { command: 'x' } }, 'ok', /left out "": it has no name/],
    [
      'that two would have',
      { 'a.b': { command: 'x' }, 'a b': { command: 'y' } },
      'a_b,ok',
      /left out "a b": its name would be a_b, which is that of "a.b"/,
    ],
    [
      'that another is written with',
      { 'a b': { command: 'x' }, a_b: { command: 'y' } },
      'a_b,ok',
      /left out "a b": its name would be a_b/,
    ],
    ['whose server is none', { none: { args: [] } }, 'ok', /left out "none": expected `command` to be a text/],
    [
      'whose command is a line',
      { line: { command: 'node server.mjs' } },
      'ok',
      /left out "line": expected `command` .*`args`.*got "node server.mjs"/,
    ],
  ])('[P-8] leaves out and names one %s; the others stay', (_, mcpServers, left, note) => {
    const { servers, notes } = serversIn('file', { mcpServers: { ...mcpServers, ok: { command: 'ok' } } }, {});
    expect(servers.map(({ name }) => name).join()).toBe(left);
    expect(notes).toContainEqual(expect.stringMatching(note));
  });
});
