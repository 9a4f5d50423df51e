import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gone } from '../../actors/mcp/mcpHarness.ts';
import { RawClient, textIn } from '../../proxy/http/startHttp.ts';
import { runBuilt, runHere } from '../startCli.ts';
import { parseOpenMetrics } from '../../support/openMetrics.ts';
import { makeHome, type McpHome, type StartedMcp, startMcp } from '../startMcp.ts';

interface Entry {
  readonly url: string;
  readonly headers?: { readonly Authorization: string };
}

async function listen(
  words: readonly string[] = [],
  home: McpHome = makeHome(),
): Promise<StartedMcp & { readonly entry: Entry }> {
  const mcp = startMcp(home, ['--listen', '127.0.0.1:0', ...words]);
  const configuration = (): string | undefined => /^\{"mcpServers".*\}$/m.exec(mcp.stderr())?.[0];
  await expect.poll(configuration).toBeDefined();
  const { mcpServers } = JSON.parse(configuration() ?? '') as { readonly mcpServers: Readonly<Record<string, Entry>> };
  const [entry] = Object.values(mcpServers);
  return { ...mcp, entry: entry ?? { url: '' } };
}

const env = ({ env: given }: McpHome): Record<string, string> => ({ ...given }) as Record<string, string>;
const clientOf = ({ url, headers }: Entry): RawClient => new RawClient(url, headers?.Authorization);

describe('unwedge mcp --listen', () => {
  it('[P-5] says where it is and what to configure, with a token that is nowhere else', async () => {
    const home = makeHome();
    const mcp = await listen(['--name', 'kb'], home);
    const token = mcp.entry.headers?.Authorization.replace('Bearer ', '') ?? '';
    expect(mcp.stderr()).toContain(`unwedge: kb is served at ${mcp.entry.url}\n`);
    expect(token).toMatch(/^[\w-]{24}$/);
    const client = clientOf(mcp.entry);
    await client.open();
    expect(await client.call({ do: 'say', raw: `${token}\n` })).toBe('said');
    expect(await client.call({ do: 'crash' })).not.toContain(token);
    mcp.child.kill();
    await mcp.exited;
    expect(readFileSync(home.db).includes(token)).toBe(false);
  });

  it('[P-5] [I-3] lets what is under way be answered when it is told to end, and leaves no server', async () => {
    const mcp = await listen();
    const [client, other] = [clientOf(mcp.entry), clientOf(mcp.entry)];
    await client.open();
    await other.open();
    const servers = [await client.call({ do: 'pid' }), await other.call({ do: 'pid' })];
    const held = await client.request('tools/call', { name: 'act', arguments: { do: 'hold', key: 'until cancelled' } });
    await held.next();
    mcp.child.kill('SIGTERM');
    const status = async (): Promise<number> =>
      (await client.request('tools/list').catch(() => ({ status: 503 }))).status;
    await expect.poll(status).toBe(503);
    expect(textIn((await held.next())?.message)).toContain('it may have taken effect');
    expect(await mcp.exited).toEqual({ code: 143, signal: null });
    for (const server of servers) await gone(Number(server));
  });

  it('[P-5] [I-3] leaves no server behind when it is killed', async () => {
    const mcp = await listen();
    const client = clientOf(mcp.entry);
    await client.open();
    const server = Number(await client.call({ do: 'pid' }));
    mcp.child.kill('SIGKILL');
    expect((await mcp.exited).signal).toBe('SIGKILL');
    await gone(server);
  });

  it('[P-5] [L-1] restarts the server of one client by its name', async () => {
    const home = makeHome();
    const mcp = await listen(['--name', 'kb'], home);
    const clients = [clientOf(mcp.entry), clientOf(mcp.entry)];
    const before = [];
    for (const client of clients) {
      await client.open();
      await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      before.push(await client.call({ do: 'pid' }));
    }
    await expect.poll(async () => (await runHere(['restart', 'kb-2'], env(home))).code).toBe(0);
    await expect.poll(() => clients[1]?.call({ do: 'pid' })).not.toBe(before[1]);
    expect(await clients[0]?.call({ do: 'pid' })).toBe(before[0]);
  });

  it('[P-5] [L-1] restarts the servers of all clients by the name of the command, and status says whose they are', async () => {
    const home = makeHome();
    const mcp = await listen(['--name', 'kb'], home);
    const clients = [clientOf(mcp.entry), clientOf(mcp.entry)];
    const before = [];
    for (const client of clients) {
      await client.open();
      await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      before.push(await client.call({ do: 'pid' }));
    }
    const { pid = 0 } = mcp.child;
    const line = `kb (pid ${pid}) is kb-1, kb-2; \`unwedge restart kb\` restarts all of it.`;
    await expect.poll(async () => (await runHere(['status'], env(home))).stdout).toContain(line);
    const { code, stdout } = await runHere(['restart', 'kb'], env(home));
    expect([code, stdout]).toEqual([0, expect.stringContaining('was asked to restart "kb".')]);
    for (const [at, client] of clients.entries()) {
      await expect.poll(() => client.call({ do: 'pid' })).not.toBe(before[at]);
    }
    for (const client of clients) await client.delete();
    await expect.poll(async () => (await runHere(['restart', 'kb'], env(home))).stderr).toContain('has no clients');
  });

  it('[P-5] takes its token from a file, which is made where it is not there, for its owner alone', async () => {
    const home = makeHome();
    const file = join(home.directory, 'token');
    const mcp = await listen(['--token-file', file], home);
    const token = readFileSync(file, 'utf8').trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(mcp.stderr()).not.toContain(token);
    // What can be pasted: a configuration with a variable, and commands that read the file.
    expect(mcp.stderr()).toContain('"Authorization":"Bearer ${UNWEDGE_MCP_TOKEN}"');
    expect(mcp.stderr()).toContain(`\nexport UNWEDGE_MCP_TOKEN="$(cat ${file})"\n`);
    expect(mcp.stderr()).toMatch(
      /claude mcp add --transport http \S+ http:\S+ --header "Authorization: Bearer \$\(cat \S+\)"\n/,
    );
    const again = await listen(['--token-file', file], home);
    expect((await new RawClient(again.entry.url, `Bearer ${token}`).open()).status).toBe(200);
    for (let request = 0; request < 3; request++) {
      expect((await new RawClient(again.entry.url, 'Bearer other').open()).status).toBe(401);
    }
    again.child.kill();
    await again.exited;
    const { stdout } = await runHere(['events', '--json', '--category', 'mcp'], env(home));
    const events = JSON.parse(stdout) as readonly { type: string; metadata: { status: number; requests: number } }[];
    const refused = events.filter(({ type }) => type === 'http_refused').map(({ metadata }) => metadata);
    expect(refused).toMatchObject([
      { status: 401, requests: 1 },
      { status: 401, requests: 2 },
    ]);
  });

  it('[P-5] asks for no token where none is wanted, and says so', async () => {
    const mcp = await listen(['--no-token']);
    expect(mcp.entry.headers).toBeUndefined();
    // The address stands alone, to be clicked.
    expect(mcp.stderr()).toContain(`/mcp\nunwedge: it asks for no token: whoever is on this machine may use it\n`);
    expect((await new RawClient(mcp.entry.url, '').open()).status).toBe(200);
  });

  it('[P-5] refuses a token that is too short', async () => {
    const home = makeHome();
    const file = join(home.directory, 'token');
    writeFileSync(file, 'short');
    const { code, stderr } = await runHere(['mcp', '--listen', '0', '--token-file', file, '--', 'node'], env(home));
    expect(code).toBe(2);
    expect(stderr).toContain('a token has at least 16 characters');
  });

  it.each([
    ['an address that others reach', ['--listen', '0.0.0.0:80'], 'it is offered on this machine alone'],
    ['what is no address', ['--listen', 'here'], 'to be 127.0.0.1:PORT, got "here"'],
    ['what is no port', ['--listen', '127.0.0.1:70000'], 'to be 127.0.0.1:PORT'],
    [
      'a file and no token',
      ['--listen', '0', '--token-file', 'x', '--no-token'],
      '`--token-file` or `--no-token`, got both',
    ],
    ['a session that ends at once', ['--listen', '0', '--session-timeout', '0s'], '`--session-timeout` to be above 0'],
    ['what is for it without it', ['--shared'], '--shared is for --listen'],
  ])('[P-5] refuses %s', async (_, words, message) => {
    const { code, stderr } = await runHere(['mcp', ...words, '--', 'node'], env(makeHome()));
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('[P-5] says when somebody else has the port', async () => {
    const home = makeHome();
    const mcp = await listen([], home);
    const { port } = new URL(mcp.entry.url);
    const { code, stderr } = await runBuilt(['mcp', '--listen', `127.0.0.1:${port}`, '--', 'node'], env(home));
    expect(code).toBe(2);
    expect(stderr).toContain(`Nothing can listen on 127.0.0.1:${port}: listen EADDRINUSE`);
  });
});

describe('GET /metrics of unwedge mcp --listen', () => {
  const at = (entry: Entry): string => entry.url.replace(/\/mcp$/, '/metrics');

  it('[O-12] tells of its own calls, to who shows the token of the listener', async () => {
    const mcp = await listen(['--name', 'kb']);
    const client = clientOf(mcp.entry);
    await client.open();
    await client.call({ do: 'say', raw: '' });
    const answer = await fetch(at(mcp.entry), { headers: { ...mcp.entry.headers } });
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('unwedge_tool_calls_total{integration="kb-1",tool="act",result="success"} 1\n');
    expect(text).toContain('unwedge_circuit_state{integration="kb-1",state="closed"} 1\n');
    const refused = await fetch(at(mcp.entry));
    expect([refused.status, await refused.text()]).toEqual([401, expect.not.stringContaining('unwedge_')]);
  });

  it('[O-12] needs none with --no-token, and takes GET alone', async () => {
    const mcp = await listen(['--no-token']);
    const headers = { accept: 'application/openmetrics-text' };
    const served = await fetch(at(mcp.entry), { headers });
    expect(Object.keys(parseOpenMetrics(await served.text()))).toEqual([
      'unwedge_stores_degraded',
      'unwedge_store_rows_waiting',
    ]);
    const posted = await fetch(at(mcp.entry), { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
