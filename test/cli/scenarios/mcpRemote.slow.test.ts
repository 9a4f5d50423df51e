import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FaultyMcpHttpServerOptions } from '../../../testing/faultyMcpHttpScript.ts';
import { startFaultyMcpHttpServer } from '../../../testing/faultyMcpHttpServer.ts';
import { browse } from '../../actors/mcp/http/auth/signedIn.ts';
import { startSessions, startStateless } from '../../integrations/mcp/officialServers.ts';
import { startAuthorizationServer } from '../../support/authorizationServer.ts';
import { runBuilt, runHere } from '../startCli.ts';
import { makeHome, type McpHome, startMcp } from '../startMcp.ts';
import { main } from '../startRun.ts';

async function startServer(options: FaultyMcpHttpServerOptions = {}) {
  const server = await startFaultyMcpHttpServer({ tools: ['search'], ...options });
  onTestFinished(() => server.close());
  return server;
}

/** The official client over stdio, with the proxy as its server. */
async function connect(url: string, { env }: McpHome = makeHome(), words: readonly string[] = []) {
  const client = new Client({ name: 'test', version: '1' });
  let closed = 0;
  client.onclose = () => (closed += 1);
  const args = [main, 'mcp', '--url', url, ...words];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: env as Record<string, string>, stderr: 'ignore' }),
  );
  onTestFinished(() => client.close());
  return {
    client,
    closed: () => closed,
    search: async (q: string) => {
      const { content } = await client.callTool({ name: 'search', arguments: { q } });
      return (content[0] as { readonly text: string }).text;
    },
  };
}

const filled = (home: McpHome): Record<string, string> => home.env as Record<string, string>;

describe('unwedge mcp --url', () => {
  it.each([
    ['of sdk 1, with sessions', startSessions],
    ['of server 2, of both eras', startStateless],
  ])('[P-4] is a server on stdio for the official client, in front of the official server %s', async (_, start) => {
    const server = await start();
    const { client, closed } = await connect(server.url);
    const [tool] = (await client.listTools()).tools;
    const call = () => client.callTool({ name: tool?.name ?? '', arguments: { text: 'x' } });
    expect((await call()).isError ?? false).toBe(false);
    await server.restart();
    expect((await call()).isError ?? false).toBe(false);
    expect([server.ran(), closed()]).toEqual([2, 0]);
  });

  it('[P-4] hides from the client that the server was away, lost its sessions, or asked for patience', async () => {
    const server = await startServer({
      faults: [{ nth: 3, do: 'status', status: 429, headers: { 'retry-after': '1' } }],
    });
    const { search, closed } = await connect(server.url);
    expect(await search('a')).toBe('a');
    server.forgetSessions();
    expect(await search('b')).toBe('b');
    expect(await search('c')).toBe('c');
    expect([server.ran('search'), server.requests('initialize'), closed()]).toEqual([3, 2, 0]);
  });

  it('[P-4] [I-3] takes leave of the server when the client ends, and when it is told to', async () => {
    const server = await startServer();
    const { client } = await connect(server.url);
    expect(server.sessions).toBe(1);
    await client.close();
    await server.until(() => server.sessions === 0 && server.openSockets === 0);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const mcp = startMcp(makeHome(), ['--url', server.url], []);
      await mcp.open();
      await server.until(() => server.sessions === 1);
      mcp.child.kill(signal);
      expect((await mcp.exited).code).toBe(signal === 'SIGTERM' ? 143 : 130);
      await server.until(() => server.sessions === 0 && server.openSockets === 0);
    }
  });

  it('[P-4] [O-8] sends headers from the environment and a file, and shows them nowhere', async () => {
    const server = await startServer();
    const home = makeHome();
    const file = join(home.directory, 'headers');
    writeFileSync(file, '# for the server\nX-Tenant: planted-tenant\n\n');
    const env = { ...home.env, KEY: 'planted-key' };
    const words = ['--header-env', 'X-Api-Key=KEY', '--header-file', file];
    const { client, search } = await connect(server.url, { ...home, env }, words);
    await search('a');
    // The store is opened behind the first answer; it is whole when the proxy has ended.
    await vi.waitUntil(() => existsSync(home.db), { timeout: 30_000 });
    await client.close();
    await server.until(() => server.sessions === 0);
    const [call] = server.received.filter(({ on }) => on === 'tools/call');
    expect(call?.headers).toMatchObject({ 'x-api-key': 'planted-key', 'x-tenant': 'planted-tenant' });
    const kept = readdirSync(home.directory).filter((name) => name.includes('sqlite'));
    expect(kept.length).toBeGreaterThan(0);
    for (const name of kept) expect(readFileSync(join(home.directory, name)).includes('planted-')).toBe(false);
  });

  it('[P-4] is in the status of the machine', async () => {
    const server = await startServer({ faults: [{ nth: 1, do: 'error' }] });
    const home = makeHome();
    const { client } = await connect(server.url, home, ['--name', 'kb']);
    await client.callTool({ name: 'search', arguments: {} }).catch(() => undefined);
    await expect
      .poll(async () => (await runHere(['status', '--tree'], filled(home))).stdout, { timeout: 30_000 })
      .toContain('mcp:kb');
  });

  it('[P-4] signs in, once, for all that come after', async () => {
    const giver = await startAuthorizationServer();
    const server = await startServer({ authorize: giver.accepts, authorizationServer: giver.url });
    const home = makeHome();
    const signing = execa(process.execPath, [main, 'mcp', '--url', server.url, '--sign-in'], { env: home.env });
    for await (const line of signing) {
      if (line.startsWith('http')) browse(line);
    }
    const { exitCode, stdout } = await signing;
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/Signed in to \S+\. It is renewed by itself\.$/)]);
    const { search } = await connect(server.url, home);
    giver.expireAll();
    giver.tokenRequests.length = 0;
    expect(await search('a')).toBe('a');
    expect(giver.tokenRequests).toHaveLength(1);
    expect(existsSync(join(home.directory, 'sign-ins'))).toBe(true);
  });

  it('[P-4] [G-17] signs in on another device: the code is on stderr, in status and the inbox, which may decline it', async () => {
    const giver = await startAuthorizationServer({ device: { interval: 1 } });
    const server = await startServer({ authorize: giver.accepts, authorizationServer: giver.url });
    const home = makeHome();
    const words = [main, 'mcp', '--url', server.url, '--sign-in', '--device'];
    const declined = execa(process.execPath, words, { env: home.env, reject: false });
    const open = async () =>
      JSON.parse((await runBuilt(['inbox', '--json'], filled(home))).stdout || '[]') as { id: string; what: string }[];
    await expect.poll(open, { timeout: 20_000 }).toMatchObject([
      {
        asker: new URL(server.url).host,
        what: expect.stringContaining(`sign in at ${giver.url}/enter with the code WDJB-MJHT, on any`) as string,
      },
    ]);
    expect((await runBuilt(['status'], filled(home))).stdout).toContain('1 question to a person waits');
    await runBuilt(['inbox', 'answer', (await open())[0]?.id ?? '', '--deny'], filled(home));
    expect(await declined).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('was stopped') as string });
    const signing = execa(process.execPath, words, { env: home.env, reject: false });
    await giver.until(() => giver.deviceRequests.length === 2);
    giver.isEntered = true;
    const { exitCode, stdout, stderr } = await signing;
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/Signed in to \S+\. It is renewed by itself\.$/)]);
    expect(stderr).toContain(`sign in at ${giver.url}/enter with the code WDJB-MJHT`);
    expect(await open()).toEqual([]);
    const { search } = await connect(server.url, home);
    expect(await search('a')).toBe('a');
  });

  it('[P-4] [G-17] with --device alone tells a client that finds no sign-in how to make one', async () => {
    const giver = await startAuthorizationServer();
    const server = await startServer({ authorize: giver.accepts, authorizationServer: giver.url });
    await expect(connect(server.url, makeHome(), ['--device', '--inbox'])).rejects.toThrow(
      `Not signed in: sign in at ${giver.url}/enter with the code WDJB-MJHT`,
    );
  });

  it('[P-4] says why a sign-in fails', async () => {
    const giver = await startAuthorizationServer({ metadata: { code_challenge_methods_supported: [] } });
    const server = await startServer({ authorize: giver.accepts, authorizationServer: giver.url });
    const { code, stderr } = await runBuilt(['mcp', '--url', server.url, '--sign-in'], filled(makeHome()));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Not signed in: The authorization server does not offer PKCE with S256') as string,
    ]);
  });

  it.each([
    [['--url', 'ftp://x'], 'Expected `--url` to be an address with http or https'],
    [['--url', 'http://u:p@x'], 'Expected `--url` to be an address with http or https'],
    [['--url', 'http://x', '--', 'node'], 'Expected a command or `--url`, got both'],
    [['--url', 'http://x', '--header-env', 'X'], 'Expected `--header-env` to be NAME=VARIABLE'],
    [['--url', 'http://x', '--header-env', 'X=NOT_SET'], 'Expected `--header-env` to name a variable'],
    [['--url', 'http://x', '--header-file', '/nonexistent'], 'The header file "/nonexistent" cannot be read'],
    [['--url', 'http://x', '--transport', 'htp'], 'Unknown value of --transport "htp"; did you mean http?'],
    [['--url', 'http://x', '--client-id', 'a'], 'Expected `--client-id` and `--client-secret-env` together'],
    [['--url', 'http://x', '--callback-port', '1'], 'Option --callback-port is for --sign-in'],
    [['--url', 'http://x', '--sign-in', '--callback-port', 'x'], 'Expected `--callback-port` to be a port'],
    [
      ['--url', 'http://x', '--sign-in', '--device', '--callback-port', '1'],
      'Option --callback-port is not for --device',
    ],
    [['--sign-in', '--', 'node'], 'Option --sign-in is for --url'],
    [['--device', '--', 'node'], 'Option --device is for --url'],
    [['--header-env', 'A=B', '--', 'node'], 'Option --header-env is for --url'],
  ])('[P-4] refuses %j', async (words, message) => {
    const { code, stderr } = await runHere(['mcp', ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message) as string]);
  });
});
