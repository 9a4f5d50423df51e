import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installed, offer } from '../../proxy/mcp/conformance/ways.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runBuilt } from '../startCli.ts';
import { makeHome, type McpHome, startMcp } from '../startMcp.ts';
import { main } from '../startRun.ts';

/** Time within which servers come up on any machine, in ms. */
const lateMs = 60_000;
const secret = 'planted-secret-value-42';

/** A file of servers. */
function fileOf(home: McpHome, content: object): string {
  const file = join(home.directory, 'servers.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

const server = (name: string, env?: object) => ({ command: process.execPath, args: [installed(name)], env });
const envOf = ({ env }: McpHome): Record<string, string> => ({ ...env }) as Record<string, string>;

function reference(home: McpHome): object {
  const memory = { ...server('memory', { MEMORY_FILE_PATH: join(home.directory, 'memory.jsonl') }) };
  return {
    mcpServers: {
      everything: server('everything', { API_TOKEN: secret }),
      memory,
      missing: { command: '/nowhere/at-all' },
      off: { command: 'x', disabled: true },
    },
  };
}

/** Names of the tools, once all that are wanted are there: those of a server that is late come with `list_changed`, and a machine may be busy. */
async function listed(client: Pick<Client, 'listTools'>, wanted: readonly string[]): Promise<readonly string[]> {
  let names: readonly string[] = [];
  const ask = async (): Promise<readonly string[]> =>
    (names = (await client.listTools()).tools.map(({ name }) => name));
  await expect.poll(ask, { timeout: lateMs, interval: 200 }).toEqual(expect.arrayContaining([...wanted]));
  return names;
}

/** A client does with two of the reference servers what they are for. */
async function use(
  client: Pick<Client, 'listTools' | 'callTool' | 'listResources' | 'readResource' | 'listPrompts' | 'getPrompt'>,
) {
  const names = await listed(client, ['everything__echo', 'memory__create_entities']);
  expect(names.every((name) => /^(?:everything|memory)__/.test(name))).toBe(true);
  const echoed = await client.callTool({ name: 'everything__echo', arguments: { message: 'hi' } });
  expect(JSON.stringify(echoed)).toContain('Echo: hi');
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
  await client.callTool({ name: 'memory__create_entities', arguments: { entities } });
  expect(JSON.stringify(await client.callTool({ name: 'memory__read_graph', arguments: {} }))).toContain('Ada');
  const { resources } = await client.listResources();
  const [first] = resources;
  expect((await client.readResource({ uri: first?.uri ?? '' })).contents).toHaveLength(1);
  // Of a template, listed nowhere.
  expect((await client.readResource({ uri: 'demo://resource/dynamic/text/7' })).contents).toHaveLength(1);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain('everything__simple-prompt');
  expect((await client.getPrompt({ name: 'everything__simple-prompt' })).messages).toHaveLength(1);
}

describe('unwedge mcp with a file of servers', () => {
  it('[P-8] [O-8] serves the official client with two reference servers, though a third is not there', async () => {
    const home = makeHome();
    const args = [main, 'mcp', '--servers', fileOf(home, reference(home))];
    const transport = new StdioClientTransport({ command: process.execPath, args, env: envOf(home), stderr: 'pipe' });
    let stderr = '';
    transport.stderr?.on('data', (chunk) => (stderr += String(chunk)));
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    await client.connect(transport);
    await use(client);
    expect(client.getInstructions()).toContain('everything: ');
    const { content } = await client.callTool({ name: 'everything__get-env', arguments: {} });
    expect(JSON.stringify(content)).toContain(secret);
    await client.close();
    await expect.poll(() => stderr).toContain('missing does not answer for now');
    expect(stderr).toMatch(/^\[everything\] \S/m);
    expect(stderr).not.toContain(secret);
    expect(readFileSync(home.db).includes(secret)).toBe(false);
  });

  it('[P-8] [P-5] serves them by HTTP as well, to a client of the newer package', async () => {
    const home = makeHome();
    const mcp = startMcp(home, ['--servers', fileOf(home, reference(home)), '--listen', '127.0.0.1:0'], []);
    const found = (): string | undefined => /^\{"mcpServers".*\}$/m.exec(mcp.stderr())?.[0];
    await expect.poll(found).toBeDefined();
    const { mcpServers } = JSON.parse(found() ?? '') as {
      readonly mcpServers: { readonly unwedge: { readonly url: string; readonly headers: Record<string, string> } };
    };
    const { url, headers } = mcpServers.unwedge;
    const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    onTestFinished(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await use(client as unknown as Client);
  });

  it.skipIf(!hasSqlite)('[P-8] [L-5] is called by its servers in the status, or by its name', async () => {
    const home = makeHome();
    const file = fileOf(home, { mcpServers: { memory: server('memory'), other: server('memory') } });
    for (const [words, name] of [
      [[], 'memory, other'],
      [['--name', 'mine'], 'mine'],
    ] as const) {
      const mcp = startMcp(home, ['--servers', file, ...words], []);
      await mcp.open();
      const status = async (): Promise<string> => (await runBuilt(['status', '--db', home.db])).stdout;
      await expect.poll(status, { timeout: 20_000 }).toContain(`unwedge mcp ${name}`);
      mcp.child.stdin.end();
      await mcp.exited;
    }
  });

  it('[P-8] has a remote server among them', async () => {
    const home = makeHome();
    const { url, requestInit } = await offer([installed('everything')], envOf(home));
    const { Authorization = '' } = requestInit.headers;
    const far = { type: 'http', url: url.href, headers: { Authorization: '${FAR_TOKEN}' } };
    const file = fileOf(home, { mcpServers: { far, memory: server('memory') } });
    const args = [main, 'mcp', '--servers', file];
    const env = { ...envOf(home), FAR_TOKEN: Authorization };
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' });
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    await client.connect(transport);
    await listed(client, ['far__echo', 'memory__read_graph']);
    expect(JSON.stringify(await client.callTool({ name: 'far__echo', arguments: { message: 'hi' } }))).toContain(
      'Echo: hi',
    );
  });

  it('[P-8] finds the servers beside our own configuration, which holds too', async () => {
    const home = makeHome();
    const config = fileOf(home, { mcpServers: { everything: server('everything') }, store: 'other.sqlite' });
    const { UNWEDGE_DB: _, ...env } = envOf(home);
    const args = [main, 'mcp', '--config', config];
    const elsewhere = temporaryDirectory();
    const command = { command: process.execPath, args, env, cwd: elsewhere, stderr: 'ignore' as const };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport(command));
    expect((await listed(client, ['everything__echo']))[0]).toBe('everything__echo');
    await client.close();
    // From where the file lies.
    await expect.poll(() => readFileSync(join(home.directory, 'other.sqlite')).length).toBeGreaterThan(0);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('[L-1] says where in that file our own configuration is wrong', async () => {
    const home = makeHome();
    const config = fileOf(home, { mcpServers: { everything: server('everything') }, stor: 'other.sqlite' });
    const { code, stderr } = await runBuilt(['mcp', '--config', config], envOf(home));
    expect(code).toBe(2);
    expect(stderr).toMatch(/servers\.json:1:\d+: unknown key stor; did you mean store\?/);
  });

  it.each([
    ['without servers', {}, 'to have an object `mcpServers`'],
    [
      'with an agent alone',
      { agents: { nightly: { backend: 'claude' } } },
      'to have an object `mcpServers`; with agents alone it is for `',
    ],
    ['that has none', { mcpServers: {} }, 'it has no server'],
    [
      'with a name that is too long to begin others',
      { mcpServers: { ['a'.repeat(41)]: { command: 'x' } } },
      `"${'a'.repeat(41)}": a name has at most 40`,
    ],
    ['with a name that begins nothing', { mcpServers: { '': { command: 'x' } } }, '"": it has no name'],
    [
      'with an address that is none',
      { mcpServers: { far: { url: 'here' } } },
      '"far": expected `url` to be an address',
    ],
    [
      'without a command',
      { mcpServers: { a: {}, b: { command: 'x', args: 'y' } } },
      '"a": expected `command` to be a text; "b": expected `args`',
    ],
    [
      'with a variable that is not there',
      { mcpServers: { a: { command: '${NOWHERE_AT_ALL}' } } },
      '"a": `command` needs the variable NOWHERE_AT_ALL, which is not set',
    ],
  ])('[P-8] refuses a file %s', async (_, content, message) => {
    const home = makeHome();
    const { code, stderr } = await runBuilt(['mcp', '--servers', fileOf(home, content)], envOf(home));
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('[P-8] refuses a command beside it, and a file that is not there', async () => {
    const home = makeHome();
    const both = await runBuilt(['mcp', '--servers', fileOf(home, reference(home)), '--', 'node'], envOf(home));
    expect(both.stderr).toContain('Expected a command or `--servers`, got both');
    const none = await runBuilt(['mcp', '--servers', join(home.directory, 'none.json')], envOf(home));
    expect(none.stderr).toContain('cannot be read: ENOENT');
  });
});
